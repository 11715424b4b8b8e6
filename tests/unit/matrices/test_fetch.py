import io
import multiprocessing
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from collection_server import Server, archive, serving

from cognate.errors import DownloadError, MatrixError
from cognate.matrices import registry, sources, suitesparse
from cognate.matrices.archive import read_member
from cognate.matrices.download import PARALLEL, Patience

NAME, ARCHIVE = "bcspwr01", "HB/bcspwr01.tar.gz"
QUICK = Patience(attempts=4, connect_seconds=2, stall_seconds=0.3, pause_seconds=0.01)


def matrix_file(size: int = 39, entries: int = 85) -> bytes:
    lines = ["%%MatrixMarket matrix coordinate pattern symmetric", f"{size} {size} {entries}"]
    places = [(i, j) for i in range(1, size + 1) for j in range(1, i + 1)][:entries]
    return "\n".join([*lines, *(f"{i} {j}" for i, j in places)]).encode() + b"\n"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving() as running:
        monkeypatch.setenv("COGNATE_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("COGNATE_MIRROR", running.url)
        running.files[f"/MM/{ARCHIVE}"] = archive(
            NAME, (f"{NAME}/{NAME}_b.mtx", b"right-hand side"), content=matrix_file()
        )
        yield running


def files_in_cache(tmp_path: Path) -> list[str]:
    """Everything but lock files."""
    found = (tmp_path / "cache").rglob("*")
    return sorted(path.name for path in found if path.is_file() and path.suffix != ".lock")


def test_fetches_once_pins_and_reads(server: Server, tmp_path: Path) -> None:
    matrix = suitesparse.load(NAME, patience=QUICK)
    assert (matrix.name, matrix.group, matrix.kind) == (NAME, "HB", "power network problem")
    assert matrix.shape == (39, 39)
    assert suitesparse.load(NAME, patience=QUICK).pattern_hash == matrix.pattern_hash
    assert server.requests == [f"/MM/{ARCHIVE}"]
    assert files_in_cache(tmp_path) == ["bcspwr01.tar.gz", "registry.txt"]
    assert len(registry.known_hash(ARCHIVE) or "") == 64
    server.behaviour = "503"
    assert sources.load_matrix("suitesparse", NAME, offline=True).nnz == matrix.nnz


@pytest.mark.parametrize(
    "behaviour",
    ["503", "500", "429", "truncate", "truncate silently", "stall", "corrupt", "html"],
)
def test_passing_trouble_is_overcome(server: Server, tmp_path: Path, behaviour: str) -> None:
    server.behaviour, server.times = behaviour, 1
    assert suitesparse.load(NAME, patience=QUICK).shape == (39, 39)
    assert len(server.requests) == 2
    assert files_in_cache(tmp_path) == ["bcspwr01.tar.gz", "registry.txt"]


def test_redirects_are_followed(server: Server) -> None:
    server.behaviour = "redirect"
    assert suitesparse.load(NAME, patience=QUICK).shape == (39, 39)
    assert server.requests == [f"/MM/{ARCHIVE}", f"/moved/MM/{ARCHIVE}"]


@pytest.mark.parametrize(
    ("behaviour", "message", "requests"),
    [
        ("503", r"answered 503 Service Unavailable \(tried 4 times\)", 4),
        ("404", "answered 404 Not Found", 1),
        ("403", "answered 403 Forbidden", 1),
        ("truncate", "broke before the end of the file", 4),
        ("truncate silently", "gzip stream is truncated", 2),
        ("stall", "went silent|does not answer in time", 4),
        ("corrupt", "damaged archive", 2),
        ("html", "is an HTML page, not an archive", 2),
        ("circle", "redirects in a circle", None),
    ],
)
def test_lasting_trouble_is_one_clear_error(
    server: Server, tmp_path: Path, behaviour: str, message: str, requests: int | None
) -> None:
    server.behaviour = behaviour
    with pytest.raises(DownloadError, match=message) as caught:
        suitesparse.load(NAME, patience=QUICK)
    assert f"{server.url}/MM/{ARCHIVE}" in str(caught.value)
    assert requests in (None, len(server.requests))
    assert files_in_cache(tmp_path) == []


def test_no_server_at_all(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGNATE_MIRROR", "http://127.0.0.1:9")
    with pytest.raises(DownloadError, match="cannot be reached"):
        suitesparse.load(NAME, patience=QUICK)


def test_a_changed_archive_is_refused(server: Server, tmp_path: Path) -> None:
    registry.pin(ARCHIVE, "0" * 64, 1)
    with pytest.raises(DownloadError, match="its registry says 0000"):
        suitesparse.load(NAME, patience=QUICK)
    assert files_in_cache(tmp_path) == ["registry.txt"]
    assert len(server.requests) == 2


def test_a_damaged_cache_is_mended(server: Server) -> None:
    path = suitesparse.fetch(NAME, patience=QUICK)
    intact = path.read_bytes()
    path.write_bytes(intact[:-1])
    assert suitesparse.missing([NAME]) == [NAME]
    assert suitesparse.load(NAME, patience=QUICK).shape == (39, 39)
    assert path.read_bytes() == intact
    assert suitesparse.missing([NAME]) == []


def test_offline_names_what_is_missing_and_what_to_do(server: Server) -> None:
    with pytest.raises(DownloadError, match=r"offline.*bcspwr01.*cognate matrices fetch bcspwr01"):
        sources.load_matrix("suitesparse", NAME, offline=True)
    assert server.requests == []


def test_too_long_a_file_is_cut_off(server: Server, tmp_path: Path) -> None:
    server.files[f"/MM/{ARCHIVE}"] = bytes(8 << 20)
    with pytest.raises(DownloadError, match="longer than the"):
        suitesparse.load(NAME, patience=QUICK)
    assert len(server.requests) == 1
    assert files_in_cache(tmp_path) == []


def test_a_matrix_that_is_not_the_one_of_the_index(server: Server) -> None:
    server.files[f"/MM/{ARCHIVE}"] = archive(NAME, content=matrix_file(size=40))
    with pytest.raises(MatrixError, match="is 40 x 40, but the collection's index says 39 x 39"):
        suitesparse.load(NAME, patience=QUICK)


def test_progress_reaches_the_total(server: Server) -> None:
    seen: list[tuple[int, int]] = []
    suitesparse.fetch(NAME, progress=lambda *step: seen.append(step), patience=QUICK)
    size = len(server.files[f"/MM/{ARCHIVE}"])
    assert seen[-1] == (size, size)


def test_prefetch_is_polite_and_reports_all_failures(server: Server) -> None:
    server.behaviour = "slow"
    names = [f"bcspwr0{i}" for i in range(1, 10)]
    for name in names[:-2]:
        server.files[f"/MM/HB/{name}.tar.gz"] = archive(name, content=matrix_file())
    steps: list[tuple[int, int]] = []
    with pytest.raises(DownloadError, match="2 downloads failed") as caught:
        suitesparse.prefetch(names, progress=lambda *step: steps.append(step), patience=QUICK)
    assert "bcspwr08" in str(caught.value)
    assert "bcspwr09" in str(caught.value)
    assert server.most_active <= PARALLEL
    assert steps == [(i, 9) for i in range(1, 10)]
    assert suitesparse.missing(names) == names[-2:]


def fetch_in_process(url: str, cache: str) -> str:
    os.environ |= {"COGNATE_MIRROR": url, "COGNATE_CACHE": cache}
    return suitesparse.load(NAME, patience=QUICK).pattern_hash


def test_many_processes_download_once(server: Server, tmp_path: Path) -> None:
    server.behaviour = "slow"
    with multiprocessing.get_context("fork").Pool(32) as pool:
        arguments = [(server.url, str(tmp_path / "cache"))] * 32
        assert len(set(pool.starmap(fetch_in_process, arguments, chunksize=1))) == 1
    assert server.requests == [f"/MM/{ARCHIVE}"]
    pins = registry.user_file().read_text().splitlines()
    assert sum(line.startswith(ARCHIVE) for line in pins) == 1


def test_a_broken_registry_is_named(server: Server) -> None:
    registry.user_file().parent.mkdir(parents=True)
    registry.user_file().write_text("HB/bcspwr01.tar.gz\n")
    with pytest.raises(DownloadError, match=r"registry.txt, line 1: expected archive, SHA-256"):
        suitesparse.load(NAME, patience=QUICK)


def link(path: str, target: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        info = tarfile.TarInfo(path)
        info.type, info.linkname = tarfile.SYMTYPE, target
        tar.addfile(info)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (archive("m", ("m/m.mtx", b"a"), ("m/m.mtx", b"b")), "holds m/m.mtx twice"),
        (archive("m", ("../m/m.mtx", b"a"), ("/m/m.mtx", b"a")), "holds m/m.mtx not at all"),
        (archive("m", ("n/m.mtx", b"a")), "holds m/m.mtx not at all"),
        (link("m/m.mtx", "/etc/hostname"), "is not a regular file"),
        (archive("m", content=bytes(5000)), "has 5000 bytes, more than the 1000"),
        (archive("m", content=b"a")[:-12], "damaged archive"),
        (b"no archive at all", "damaged archive"),
    ],
)
def test_hostile_archives(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "m.tar.gz"
    path.write_bytes(content)
    with pytest.raises(DownloadError, match=message):
        read_member(path, "m", limit=1000)
    assert [p.name for p in tmp_path.iterdir()] == ["m.tar.gz"]


def test_a_bomb_beside_the_matrix_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cognate.matrices.archive.OTHER_MEMBERS_BYTES", 1 << 20)
    path = tmp_path / "m.tar.gz"
    path.write_bytes(archive("m", ("m/m_b.mtx", bytes(4 << 20)), content=b"a"))
    with pytest.raises(DownloadError, match="unpacks to more than it may"):
        read_member(path, "m", limit=1000)
