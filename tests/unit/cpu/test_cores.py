import os

import pytest

from cognate.platforms.cpu import cores


def group(root, path, **files):
    folder = root / path
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def test_version_2_takes_the_tightest_of_all_parents(tmp_path):
    root = tmp_path / "cgroup"
    group(root, "pod", cpu__max="150000 100000\n")
    group(root, "pod/container", cpu__max="max 100000\n")
    (tmp_path / "self").write_text("0::/pod/container\n")
    assert cores.cgroup_quota(root, tmp_path / "self") == 1.5


def test_version_1_reads_quota_and_period(tmp_path):
    root = tmp_path / "cgroup"
    group(root, "cpu/job", cpu__cfs_quota_us="300000\n", cpu__cfs_period_us="100000\n")
    group(root, "memory/job")
    (tmp_path / "self").write_text("4:memory:/job\n1:cpu,cpuacct:/job\n0::/\n")
    assert cores.cgroup_quota(root, tmp_path / "self") == 3.0


@pytest.mark.parametrize("quota", ["-1\n", "0\n"])
def test_no_limit(tmp_path, quota):
    root = tmp_path / "cgroup"
    group(root, "cpu", cpu__cfs_quota_us=quota, cpu__cfs_period_us="100000\n")
    (tmp_path / "self").write_text("1:cpu:/\n")
    assert cores.cgroup_quota(root, tmp_path / "self") is None
    assert cores.cgroup_quota(root, tmp_path / "missing") is None


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system has no affinity")
def test_quota_and_affinity_together(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 1, 7, 5})
    for quota, expected in {None: [1, 3, 5, 7], 2.9: [1, 3], 0.5: [1], 99.0: [1, 3, 5, 7]}.items():
        monkeypatch.setattr(cores, "cgroup_quota", lambda quota=quota: quota)
        assert cores.granted_processors() == expected
        assert cores.granted_cores() == len(expected)
