"""What a study offers, and that everything it offers can be drawn and stored."""

import numpy as np
import pandas as pd
import pytest
import synthetic_study
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cognate.evaluation.end_to_end import VARIANTS
from cognate.evaluation.study_data import StudyData
from cognate.figures import FIGURES, TABLES, offered_figures, offered_tables
from cognate.figures.ablations import ABLATIONS
from cognate.figures.save import save, write_table
from cognate.figures.style import WIDTH, method_style, method_styles

SMALL = ["best-fixed", "no-transfer", "cognate", "oracle"]
EXPERIMENTS = {
    "headline": {"methods": synthetic_study.METHODS},
    "shots": {"methods": [*SMALL, "zero-shot"], "shots": [0, 1, 5]},
    "source-size": {"methods": ["cognate"], "source_matrices": [2, "all"]},
} | {name: {"methods": ["cognate", "cognate:latent=pca"]} for name in ABLATIONS}


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """A study that offers all there is, with one operation."""
    folder = tmp_path_factory.mktemp("everything") / "results"
    config = synthetic_study.toy_config(
        experiments=EXPERIMENTS,
        operations=["spmm"],
        evaluation={"bootstrap": 50, "end_to_end": 2},
    )
    synthetic_study.write_study(folder, config)
    _end_to_end().to_parquet(folder / "end_to_end.parquet", index=False)
    return StudyData(folder, config)


def _end_to_end():
    return pd.DataFrame(
        {
            "matrix": matrix,
            "nnz": 100,
            "workload": workload,
            "variant": variant,
            "kernel_seconds": 1.0 + place + variant.count("r"),
            "dense_seconds": 0.5,
            "once_seconds": 2.0 * (variant == "recommended"),
            "read_seconds": 0.1,
        }
        for place, matrix in enumerate(("m1", "m2"))
        for workload in ("gcn", "gat")
        for variant in VARIANTS
    )


def test_file_names_tell_all_places_apart(everything):
    for offered in (offered_figures(everything.config), offered_tables(everything.config)):
        names = [spec.file_name(**place) for spec, place in offered]
        assert len(set(names)) == len(names)


def test_names_follow_target_and_operation():
    assert FIGURES["speedup"].file_name("spade", "spmm") == "speedup_spade_spmm"
    assert TABLES["headline"].file_name() == "headline"


def test_a_full_study_offers_everything(everything):
    assert {spec.name for spec, _ in offered_figures(everything.config)} == set(FIGURES)
    assert {spec.name for spec, _ in offered_tables(everything.config)} == set(TABLES)


def test_a_small_study_is_not_offered_what_it_has_no_runs_for():
    config = synthetic_study.toy_config(
        experiments={"headline": {"methods": ["default", "best-fixed", "oracle"]}}
    )
    names = {spec.name for spec, _ in offered_figures(config)}
    assert {"speedup", "per_matrix", "headroom"} <= names
    assert names.isdisjoint({"shots", "source_size", "training", "similarity", "end_to_end"})
    assert names.isdisjoint(name.replace("-", "_") for name in ABLATIONS)
    assert "similarity" not in {spec.name for spec, _ in offered_tables(config)}


def test_each_place_is_a_target_and_an_operation():
    config = synthetic_study.toy_config()
    places = FIGURES["speedup"].places(config)
    assert places == [
        {"target": "spade", "operation": "spmm"},
        {"target": "spade", "operation": "sddmm"},
    ]
    assert FIGURES["training"].places(config) == [{}]


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_drawn_at_the_one_width_with_their_numbers(name, everything, tmp_path):
    (place,) = FIGURES[name].places(everything.config)
    figure, table = FIGURES[name].draw(everything, **place)
    assert isinstance(figure, Figure)
    assert figure.get_size_inches()[0] == WIDTH
    assert len(table) > 0
    assert all(shows_something(axes) for axes in figure.axes)
    save(figure, table, tmp_path / name)
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".csv", ".png", ".svg"]
    assert len(pd.read_csv(tmp_path / f"{name}.csv")) == len(table)
    overflow = figure.get_tightbbox().padded(0)
    assert overflow.x0 > -0.05
    assert overflow.x1 < WIDTH + 0.05


def shows_something(axes: Axes) -> bool:
    """Whether there is a bar, an image or a curve with a finite point: not only empty ones."""
    points = [line.get_ydata() for line in axes.lines]
    points += [collection.get_offsets() for collection in axes.collections]
    drawn = any(np.isfinite(np.asarray(p, dtype=float)).any() for p in points if len(p))
    return drawn or bool(axes.patches or axes.images)


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_computed_and_stored(name, everything, tmp_path):
    table = TABLES[name].compute(everything)
    write_table(table, tmp_path / "table.csv")
    stored = pd.read_csv(tmp_path / "table.csv")
    assert len(stored) == len(table) > 0
    assert list(stored.columns) == list(table.columns)


def test_equal_content_gives_equal_bytes(everything, tmp_path):
    for turn in ("one", "two"):
        figure, table = FIGURES["speedup"].draw(everything, target="spade", operation="spmm")
        save(figure, table, tmp_path / turn / "figure")
    for ending in ("svg", "png", "csv"):
        one, two = ((tmp_path / t / f"figure.{ending}").read_bytes() for t in ("one", "two"))
        assert one == two
    assert b"<dc:date>" not in (tmp_path / "one" / "figure.svg").read_bytes()


def test_checks_find_nothing_missing_and_notice_other_inputs(everything):
    table = TABLES["checks"].compute(everything).set_index("figure")
    assert (table["missing"] == 0).all()
    assert len(table) == len(FIGURES)
    assert table.loc["speedup_spade_spmm", "matrices"] == len(everything.names("test"))
    assert table.loc["speedup_spade_spmm", "seeds"] == 2
    assert table.loc["speedup_spade_spmm", "inputs"] != table.loc["headroom_spade_spmm", "inputs"]


def test_checks_count_what_is_missing(everything, tmp_path, monkeypatch):
    rows = everything.evaluation("spade", "spmm")
    short = rows[~((rows["method"] == "cognate:latent=pca") & (rows["seed"] == 1))]
    study = StudyData(everything.folder, everything.config)
    monkeypatch.setattr(study, "evaluation", lambda *scope: short)
    table = TABLES["checks"].compute(study).set_index("figure")
    assert table.loc["latent_spade_spmm", "missing"] == len(study.names("test"))
    assert table.loc["speedup_spade_spmm", "missing"] == 0


def test_timings_of_learning_do_not_change_the_hash(everything, monkeypatch):
    rows = everything.evaluation("spade", "spmm")
    study = StudyData(everything.folder, everything.config)
    monkeypatch.setattr(study, "evaluation", lambda *scope: rows.assign(predict_seconds=9.0))
    before = TABLES["checks"].compute(everything)["inputs"]
    assert TABLES["checks"].compute(study)["inputs"].tolist() == before.tolist()


def test_numbers_have_six_digits_and_undefined_ones_are_empty(tmp_path):
    write_table(pd.DataFrame({"x": [1 / 3, np.nan], "n": [1, 2]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "x,n\n0.333333,1\n,2\n"


def test_every_method_looks_different_and_the_same_everywhere():
    styles = method_styles(synthetic_study.METHODS)
    assert len({s.label for s in styles.values()}) == len(styles)
    assert len({s.marker for s in styles.values()}) == len(styles)
    assert len({(s.colour, s.hatch) for s in styles.values()}) == len(styles)
    assert all(method_style(name) == style for name, style in styles.items())


def test_variants_keep_their_colour_and_are_told_apart():
    styles = method_styles(["cognate", "cognate:latent=pca", "cognate:latent=vae,loss=listwise"])
    assert len({s.colour for s in styles.values()}) == 1
    assert len({s.hatch for s in styles.values()}) == 3
    assert styles["cognate:latent=vae,loss=listwise"].label == "COGNATE, latent vae, loss listwise"
    assert method_style("somebodys").label == "somebodys"
