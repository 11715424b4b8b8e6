# The study, from nothing to a figure. Rules by stage are in workflow/rules.
from snakemake.utils import min_version

min_version("9.27")


# A preset given with --configfile stands alone; merging it into the default study would leave
# keys of both.
if not workflow.overwrite_configfiles:

    configfile: "config.yaml"


include: "workflow/rules/common.smk"


report: "workflow/report/workflow.rst"


STUDY = read_study(config)
RESULTS = STUDY.config.results
METHODS = {slug(method): method for method in STUDY.methods}
FIGURES = offered(registry.FIGURES)
TABLES = offered(registry.TABLES)
CONFIGURATIONS = {slug(name): name for name, size, seed in STUDY.source_models}


wildcard_constraints:
    batch=one_of(STUDY.batches),
    platform=one_of(STUDY.platform_names),
    target=one_of(STUDY.target_names),
    operation=one_of(STUDY.config.operations),
    method=one_of(METHODS),
    configuration=one_of(CONFIGURATIONS),
    size=r"\d+",
    seed=r"\d+",


include: "workflow/rules/matrices.smk"
include: "workflow/rules/sample.smk"
include: "workflow/rules/learn.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/publish.smk"
include: "workflow/rules/ship.smk"


onstart:
    prepare_run()


rule all:
    default_target: True
    input:
        tables_of(TABLES),
        f"{RESULTS}/tables/missing.csv",
        figures_of(FIGURES),
        f"{RESULTS}/summary.md",
