rule build_matrices:
    """Build, read or fetch a batch of matrices."""
    output:
        directory(f"{RESULTS}/matrices/{{batch}}"),
    log:
        "logs/build_matrices/{batch}.log",
    benchmark:
        "logs/build_matrices/{batch}.tsv"
    conda:
        "../../envs/cognate.yaml"
    resources:
        net=1,
        mem_mb=batch_megabytes,
        runtime=batch_minutes,
    params:
        names=lambda wildcards: STUDY.batches[wildcards.batch],
        settings=matrix_settings(),
        code=source_code(),
    script:
        "../scripts/build_matrices.py"


rule tabulate_matrices:
    """Identity, split and statistics of every matrix, in one table."""
    input:
        expand(f"{RESULTS}/matrices/{{batch}}", batch=STUDY.batches),
    output:
        f"{RESULTS}/tables/matrices.csv",
    log:
        "logs/tabulate_matrices.log",
    benchmark:
        "logs/tabulate_matrices.tsv"
    conda:
        "../../envs/cognate.yaml"
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        splits=STUDY.matrices["split"].to_dict(),
        code=code_of("tabulate_matrices"),
    script:
        "../scripts/tabulate_matrices.py"
