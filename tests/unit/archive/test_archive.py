"""A study's archive comes back whole and equal, or is refused with the reason."""

import hashlib
import json
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

from cognate.archive import export_study, import_study
from cognate.config import load_config
from cognate.errors import CognateError
from cognate.learning.baselines import FixedRanker
from cognate.operations import get_operation
from cognate.platforms import get_platform, samples


@pytest.fixture
def config(tmp_path):
    """A study with one samples table, one model and a table of matrices."""
    results = tmp_path / "results"
    table = pd.DataFrame(
        {
            "matrix": "m",
            "schedule_id": np.arange(3),
            "seconds": [1.0, 2.0, np.nan],
            "status": ["ok", "ok", "rejected"],
            "reason": ["", "", "too large"],
        }
    )
    samples.write(table, {"kind": "simulated"}, results / "samples/spade/spmm/b.parquet")
    spmm = get_operation("spmm", 32)
    spade = get_platform("spade", threads=1)
    FixedRanker(spade, spmm, {0: 1.0}).save(results / "models/spmm/fixed.safetensors")
    (results / "tables").mkdir()
    matrices = {"matrix": ["m"], "group": ["G"], "pattern_hash": ["0" * 16], "split": ["train"]}
    pd.DataFrame(matrices).to_csv(results / "tables/matrices.csv", index=False)
    (results / "summary.md").write_text("# study\n")
    (results / "tables/.hidden.csv").write_text("no")
    (results / "samples/notes.txt").write_text("no")
    path = tmp_path / "config.yaml"
    path.write_text(
        f"results: {results}\nsource: {{platform: cpu}}\ntargets: [{{platform: spade}}]\n"
        "learning: {experiments: {headline: {methods: [default]}}}\n"
    )
    return load_config(path)


def test_everything_comes_back_as_it_was(config, tmp_path):
    manifest = export_study(config, tmp_path / "study.zip")
    names = set(manifest.files)
    assert {"samples/spade/spmm/b.parquet", "models/spmm/fixed.json", "summary.md"} <= names
    assert {"config.json", "environment.json", "LICENCE-OF-MATRICES.md"} <= names
    assert not any("hidden" in name or "notes" in name for name in names)
    assert "MIT" in manifest.licence
    back = import_study(tmp_path / "study.zip", tmp_path / "new" / "study")
    assert back == manifest
    for name in names - {"config.json", "environment.json", "LICENCE-OF-MATRICES.md"}:
        original = (tmp_path / "results" / name).read_bytes()
        assert (tmp_path / "new" / "study" / name).read_bytes() == original


def test_equal_results_make_equal_archives(config, tmp_path):
    first, second = tmp_path / "a.zip", tmp_path / "b.zip"
    export_study(config, first)
    export_study(config, second)
    assert first.read_bytes() == second.read_bytes()


def test_only_verifying_leaves_nothing(config, tmp_path):
    export_study(config, tmp_path / "study.zip")
    before = sorted(tmp_path.rglob("*"))
    import_study(tmp_path / "study.zip", None)
    assert sorted(tmp_path.rglob("*")) == before


def test_nothing_is_overwritten_and_nothing_missing_is_packed(config, tmp_path):
    export_study(config, tmp_path / "study.zip")
    with pytest.raises(CognateError, match="not empty"):
        import_study(tmp_path / "study.zip", tmp_path / "results")
    with pytest.raises(CognateError, match="holds no samples"):
        export_study(config.model_copy(update={"results": str(tmp_path / "none")}), tmp_path / "x")
    own = config.matrices.model_copy(update={"source": "directory", "folder": "f"})
    with pytest.raises(CognateError, match="licence"):
        export_study(config.model_copy(update={"matrices": own}), tmp_path / "x.zip")
    assert not (tmp_path / "x.zip").exists()


def rewritten(source, target, edit):
    """The archive with its {name: content} and manifest changed by ``edit``."""
    with zipfile.ZipFile(source) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(content.pop("manifest.json"))
    edit(content, manifest)
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
        archive.writestr("manifest.json", json.dumps(manifest))


def listed(content, manifest, name, data):
    content[name] = data
    manifest["files"][name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def _flip(content, manifest):
    content["summary.md"] = b"# stuDy\n"


def _truncated(content, manifest):
    content["summary.md"] = b"#"


def _bomb(content, manifest):
    content["summary.md"] = bytes(50_000_000)


def _unlisted(content, manifest):
    content["extra.csv"] = b"1"


def _lost(content, manifest):
    del content["summary.md"]


def _escape(content, manifest):
    listed(content, manifest, "../evil.csv", b"1")


def _absolute(content, manifest):
    listed(content, manifest, "/tmp/evil.csv", b"1")


def _windows(content, manifest):
    listed(content, manifest, "..\\evil.csv", b"1")


def _pickle(content, manifest):
    listed(content, manifest, "models/model.pkl", b"1")


def _old_format(content, manifest):
    manifest["format"] = "cognate-archive-0"


def _no_files(content, manifest):
    del manifest["files"]


def _bad_size(content, manifest):
    manifest["files"]["summary.md"]["bytes"] = "many"


def _bad_samples(content, manifest):
    listed(content, manifest, "samples/spade/spmm/b.parquet", b"PAR1 not really")


def _swapped_card(content, manifest):
    card = json.loads(content["models/spmm/fixed.json"])
    card["sha256"] = "0" * 64
    listed(content, manifest, "models/spmm/fixed.json", json.dumps(card).encode())


def _too_large(content, manifest):
    manifest["files"]["summary.md"]["bytes"] = 1 << 40


TAMPERED = {
    _flip: "not what the manifest says",
    _truncated: "not what the manifest says",
    _bomb: "not what the manifest says",
    _unlisted: "differ",
    _lost: "differ",
    _escape: "leave the folder",
    _absolute: "leave the folder",
    _windows: "leave the folder",
    _pickle: "never hold",
    _old_format: "another version",
    _no_files: "not an archive of cognate",
    _bad_size: "not an archive of cognate",
    _bad_samples: "cannot be read as a samples table",
    _swapped_card: "does not belong to",
    _too_large: "too many",
}


@pytest.mark.parametrize(
    ("edit", "words"), TAMPERED.items(), ids=lambda v: getattr(v, "__name__", "")
)
def test_a_tampered_archive_is_refused_and_leaves_nothing(config, tmp_path, edit, words):
    export_study(config, tmp_path / "study.zip")
    rewritten(tmp_path / "study.zip", tmp_path / "odd.zip", edit)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(CognateError, match=words):
        import_study(tmp_path / "odd.zip", tmp_path / "new")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_twice_a_cut_file_and_another_file_are_refused(config, tmp_path):
    export_study(config, tmp_path / "study.zip")
    whole = (tmp_path / "study.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.zip").write_text("hello")
    with warnings.catch_warnings(), zipfile.ZipFile(tmp_path / "study.zip", "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("summary.md", "twice")
    with pytest.raises(CognateError, match="twice"):
        import_study(tmp_path / "study.zip", None)
    for name in ("cut.zip", "text.zip", "none.zip"):
        with pytest.raises(CognateError, match="cannot be read as an archive"):
            import_study(tmp_path / name, None)


def test_a_flipped_byte_anywhere_is_found(config, tmp_path):
    export_study(config, tmp_path / "study.zip")
    whole = (tmp_path / "study.zip").read_bytes()
    original = import_study(tmp_path / "study.zip", None)
    random = np.random.default_rng(0)
    for place in random.integers(len(whole), size=40):
        damaged = bytearray(whole)
        damaged[place] ^= 0x41
        (tmp_path / "odd.zip").write_bytes(damaged)
        try:
            found = import_study(tmp_path / "odd.zip", None)
        except CognateError:
            continue
        # What is left over are bytes of the container (times, attributes), not of its content.
        assert found.files == original.files
