rule pretrain:
    """Train a source model: one configuration, number of source matrices and seed."""
    input:
        f"{RESULTS}/samples/{STUDY.config.source.name}/{{operation}}.json",
    output:
        model=f"{RESULTS}/models/{{operation}}/{{configuration}}-n{{size}}-s{{seed}}.safetensors",
        card=f"{RESULTS}/models/{{operation}}/{{configuration}}-n{{size}}-s{{seed}}.json",
        curve=f"{RESULTS}/models/{{operation}}/{{configuration}}-n{{size}}-s{{seed}}.curve.parquet",
    log:
        "logs/pretrain/{operation}-{configuration}-n{size}-s{seed}.log",
    benchmark:
        "logs/pretrain/{operation}-{configuration}-n{size}-s{seed}.tsv"
    conda:
        "../../envs/cognate.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        configuration=lambda wildcards: CONFIGURATIONS[wildcards.configuration],
        source=lambda wildcards: STUDY.source_matrices(
            int(wildcards.size), int(wildcards.seed)
        ),
        settings=learning_settings(),
        code=code_of("pretrain", "cognate.learning"),
    script:
        "../scripts/pretrain.py"


rule rank:
    """Train a method in all its runs and rank all schedules on every test matrix."""
    input:
        source=f"{RESULTS}/samples/{STUDY.config.source.name}/{{operation}}.json",
        target=f"{RESULTS}/samples/{{target}}/{{operation}}.json",
        models=lambda wildcards: list(
            source_models(wildcards.operation, wildcards.method).values()
        ),
    output:
        f"{RESULTS}/rankings/{{target}}/{{operation}}/{{method}}.parquet",
    log:
        "logs/rank/{target}-{operation}-{method}.log",
    benchmark:
        "logs/rank/{target}-{operation}-{method}.tsv"
    conda:
        "../../envs/cognate.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 120 * attempt,
    params:
        method=lambda wildcards: METHODS[wildcards.method],
        runs=lambda wildcards: [
            str(run) for run in STUDY.runs(METHODS[wildcards.method])
        ],
        models=lambda wildcards: source_models(wildcards.operation, wildcards.method),
        splits=STUDY.matrices["split"].to_dict(),
        settings=learning_settings(),
        code=code_of("rank", "cognate.learning"),
    script:
        "../scripts/rank.py"
