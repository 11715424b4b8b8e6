rule measure:
    """Time the sampled schedules of a batch on a real platform, alone on the machine."""
    input:
        f"{RESULTS}/matrices/{{batch}}",
    output:
        f"{RESULTS}/samples/{{platform}}/{{operation}}/{{batch}}.parquet",
    log:
        "logs/measure/{platform}-{operation}-{batch}.log",
    benchmark:
        "logs/measure/{platform}-{operation}-{batch}.tsv"
    wildcard_constraints:
        platform=one_of(filter(is_measured, STUDY.platform_names)),
    conda:
        "../../envs/cognate.yaml"
    threads: whole_machine
    resources:
        bench_slot=1,
        mem_mb=measuring_megabytes,
        runtime=batch_minutes,
    params:
        names=lambda wildcards: STUDY.batches[wildcards.batch],
        settings=lambda wildcards: platform_settings(wildcards.platform),
        code=platform_code,
    script:
        "../scripts/sample.py"


rule simulate:
    """Simulate the sampled schedules of a batch on a simulated platform."""
    input:
        f"{RESULTS}/matrices/{{batch}}",
    output:
        f"{RESULTS}/samples/{{platform}}/{{operation}}/{{batch}}.parquet",
    log:
        "logs/simulate/{platform}-{operation}-{batch}.log",
    benchmark:
        "logs/simulate/{platform}-{operation}-{batch}.tsv"
    wildcard_constraints:
        platform=one_of(p for p in STUDY.platform_names if not is_measured(p)),
    conda:
        "../../envs/cognate.yaml"
    resources:
        mem_mb=batch_megabytes,
        runtime=batch_minutes,
    params:
        names=lambda wildcards: STUDY.batches[wildcards.batch],
        settings=lambda wildcards: platform_settings(wildcards.platform),
        code=platform_code,
    script:
        "../scripts/sample.py"


rule check_samples:
    """Check that a platform's samples belong together; later stages wait for this alone."""
    input:
        lambda wildcards: expand(
            f"{RESULTS}/samples/{{platform}}/{{operation}}/{{batch}}.parquet",
            platform=wildcards.platform,
            operation=wildcards.operation,
            batch=STUDY.sampled_batches(wildcards.platform),
        ),
    output:
        f"{RESULTS}/samples/{{platform}}/{{operation}}.json",
    log:
        "logs/check_samples/{platform}-{operation}.log",
    benchmark:
        "logs/check_samples/{platform}-{operation}.tsv"
    conda:
        "../../envs/cognate.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(20),
    params:
        code=code_of("check_samples"),
    script:
        "../scripts/check_samples.py"
