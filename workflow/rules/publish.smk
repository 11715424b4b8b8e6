# One rule a figure and a table. Batch systems take no slash in a job's name, so what is asked for,
# figures/NAME or tables/NAME, is another rule: it does nothing and is never submitted.
for name, (spec, place) in FIGURES.items():

    rule:
        name:
            f"figure_{name}"
        input:
            **inputs_for(spec, place),
        output:
            svg=report(
                f"{RESULTS}/figures/{name}.svg",
                caption=f"../report/{spec.name}.rst",
                category=spec.category,
                labels={"figure": spec.title, **place},
            ),
            png=f"{RESULTS}/figures/{name}.png",
            csv=f"{RESULTS}/figures/{name}.csv",
        log:
            f"logs/figures/{name}.log",
        benchmark:
            f"logs/figures/{name}.tsv"
        group:
            "publish"
        conda:
            "../../envs/cognate.yaml"
        resources:
            publish_slot=1,
            mem_mb=growing(3000),
            runtime=growing(20),
        params:
            figure=spec.name,
            place=place,
            settings=published_settings(),
            code=fingerprint(spec.draw.__module__, "cognate.figures.save"),
        script:
            "../scripts/draw_figure.py"

    rule:
        name:
            f"figures/{name}"
        input:
            f"{RESULTS}/figures/{name}.svg",
        localrule: True


for name, (spec, place) in TABLES.items():

    rule:
        name:
            f"table_{name}"
        input:
            **inputs_for(spec, place),
        output:
            report(
                f"{RESULTS}/tables/{name}.csv",
                caption=f"../report/{spec.name}.rst",
                category=spec.category,
                labels={"table": spec.title, **place},
            ),
        log:
            f"logs/tables/{name}.log",
        benchmark:
            f"logs/tables/{name}.tsv"
        group:
            "publish"
        conda:
            "../../envs/cognate.yaml"
        resources:
            publish_slot=1,
            mem_mb=growing(3000),
            runtime=growing(20),
        params:
            table=spec.name,
            place=place,
            settings=published_settings(),
            code=fingerprint(spec.compute.__module__, "cognate.figures.save"),
        script:
            "../scripts/compute_table.py"

    rule:
        name:
            f"tables/{name}"
        input:
            f"{RESULTS}/tables/{name}.csv",
        localrule: True


rule summary:
    """Write the study's one-page abstract."""
    input:
        tables_of(TABLES),
        f"{RESULTS}/tables/missing.csv",
    output:
        f"{RESULTS}/summary.md",
    log:
        "logs/summary.log",
    benchmark:
        "logs/summary.tsv"
    group:
        "publish"
    conda:
        "../../envs/cognate.yaml"
    resources:
        publish_slot=1,
        mem_mb=growing(3000),
        runtime=growing(20),
    params:
        settings=published_settings(),
        code=fingerprint("cognate.figures.summary"),
    script:
        "../scripts/write_summary.py"
