rule evaluate:
    """Join the rankings of all methods with the samples into the evaluation table."""
    input:
        rankings=expand(
            f"{RESULTS}/rankings/{{{{target}}}}/{{{{operation}}}}/{{method}}.parquet",
            method=METHODS,
        ),
        target=f"{RESULTS}/samples/{{target}}/{{operation}}.json",
        source=f"{RESULTS}/samples/{STUDY.config.source.name}/{{operation}}.json",
        matrices=f"{RESULTS}/tables/matrices.csv",
    output:
        f"{RESULTS}/evaluation/{{target}}-{{operation}}.parquet",
    log:
        "logs/evaluate/{target}-{operation}.log",
    benchmark:
        "logs/evaluate/{target}-{operation}.tsv"
    conda:
        "../../envs/cognate.yaml"
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        code=code_of("evaluate"),
    script:
        "../scripts/evaluate.py"


rule tabulate_missing:
    """What was left out under --keep-going, and why; no row means a complete study."""
    input:
        matrices=expand(f"{RESULTS}/matrices/{{batch}}", batch=STUDY.batches),
        samples=samples_of(STUDY.target_names, STUDY.config.operations),
    output:
        report(
            f"{RESULTS}/tables/missing.csv",
            caption="../report/missing.rst",
            category="Provenance",
            labels={"table": "What is missing"},
        ),
    log:
        "logs/tabulate_missing.log",
    benchmark:
        "logs/tabulate_missing.tsv"
    conda:
        "../../envs/cognate.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(20),
    params:
        code=code_of("missing"),
    script:
        "../scripts/tabulate_missing.py"
