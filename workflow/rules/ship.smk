SHIPPED = f"{RESULTS}/shipped"


rule ship_model:
    """Train the small model that ships with the package, of one platform and operation."""
    input:
        source=f"{RESULTS}/samples/{STUDY.config.source.name}/{{operation}}.json",
        target=f"{RESULTS}/samples/{{platform}}/{{operation}}.json",
    output:
        model=f"{SHIPPED}/{{platform}}-{{operation}}.safetensors",
        card=f"{SHIPPED}/{{platform}}-{{operation}}.json",
    log:
        "logs/ship_model/{platform}-{operation}.log",
    benchmark:
        "logs/ship_model/{platform}-{operation}.tsv"
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
        f"{RESULTS}/samples/{STUDY.config.source.name}/{{operation}}.json",
    output:
        model=f"{SHIPPED}/source-{{operation}}.safetensors",
        card=f"{SHIPPED}/source-{{operation}}.json",
    log:
        "logs/ship_source/{operation}.log",
    benchmark:
        "logs/ship_source/{operation}.tsv"
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


rule measure_end_to_end:
    """Time graph layers with recommended schedules, alone on the machine."""
    input:
        spmm=f"{SHIPPED}/{STUDY.config.source.name}-spmm.safetensors",
        sddmm=f"{SHIPPED}/{STUDY.config.source.name}-sddmm.safetensors",
        matrices=expand(f"{RESULTS}/matrices/{{batch}}", batch=STUDY.batches_of("test")),
    output:
        f"{RESULTS}/end_to_end.parquet",
    log:
        "logs/measure_end_to_end.log",
    benchmark:
        "logs/measure_end_to_end.tsv"
    conda:
        "../../envs/cognate.yaml"
    threads: whole_machine
    resources:
        bench_slot=1,
        mem_mb=6000,
        runtime=60,
    params:
        matrices_to_measure=STUDY.config.evaluation.end_to_end,
        code=code_of(
            "end_to_end",
            "cognate.learning",
            home_of(STUDY.config.source.name),
        ),
    script:
        "../scripts/measure_end_to_end.py"
