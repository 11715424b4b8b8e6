SHIPPED = f"{RESULTS}/shipped"


def all_samples(platform, operation):
    """Samples of a platform on every matrix it is sampled on."""
    learnt_from = platform == STUDY.config.source.name
    batches = STUDY.batches_of("train", "validation") if learnt_from else STUDY.batches
    folder = f"{RESULTS}/samples/{platform}/{operation}"
    return [f"{folder}/{batch}.parquet" for batch in batches]


def learnable_samples(wildcards):
    """Samples of the source platform."""
    return all_samples(STUDY.config.source.name, wildcards.operation)


rule ship_model:
    """Train the small model that ships with the package, of one platform and operation."""
    input:
        source=learnable_samples,
        target=lambda wildcards: all_samples(wildcards.platform, wildcards.operation),
        matrices=expand(f"{RESULTS}/matrices/{{batch}}", batch=STUDY.batches),
    output:
        model=f"{SHIPPED}/{{platform}}-{{operation}}.safetensors",
        card=f"{SHIPPED}/{{platform}}-{{operation}}.json",
    log:
        "logs/ship_model/{platform}-{operation}.log",
    conda:
        "../../envs/cognate.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=code_of("ship_model", "cognate.learning"),
    script:
        "../scripts/ship_model.py"


rule ship_source:
    """Learn the source platform, for 'cognate transfer' to start from."""
    input:
        source=learnable_samples,
        matrices=expand(f"{RESULTS}/matrices/{{batch}}", batch=STUDY.batches),
    output:
        model=f"{SHIPPED}/source-{{operation}}.safetensors",
        card=f"{SHIPPED}/source-{{operation}}.json",
    log:
        "logs/ship_source/{operation}.log",
    conda:
        "../../envs/cognate.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=code_of("ship_model", "cognate.learning"),
    script:
        "../scripts/ship_source.py"


rule ship:
    """All models that ship; copy the folder's files to src/cognate/models."""
    input:
        expand(
            f"{SHIPPED}/{{name}}-{{operation}}.safetensors",
            name=["source", *STUDY.platform_names],
            operation=STUDY.config.operations,
        ),
