"""Hash the source code that a stage of a study uses, so that a change re-runs just that stage.

Snakemake notices a changed script or parameter, not a changed module of a library. Every rule
therefore has :func:`fingerprint` of its stage as a parameter.
"""

import ast
import hashlib
import importlib.util
from functools import cache
from pathlib import Path

SOURCE_SUFFIXES = (".py",)
IGNORED = frozenset(
    f"cognate.{name}"
    for name in ("config", "errors", "files", "progress", "provenance", "stages.job", "study")
)
"""Plumbing that decides no number: what of the configuration matters is a parameter of its own."""

DATA_SUFFIXES = (".c", ".h", ".yaml", ".csv", ".gz", ".txt", ".json")


@cache
def fingerprint(*roots: str) -> str:
    """Sixteen hex digits of all code reachable from the modules named ``roots``.

    Follows import statements, also those inside functions, that stay within the root's own
    top-level package or ``cognate``. Data files (C sources, machine descriptions) count when
    they lie in a root that is a package.
    """
    digest = hashlib.sha256()
    files: set[Path] = set()
    for module in sorted(_closure(roots)):
        origin = _origin(module)
        if origin:
            files.add(origin)
    for root in roots:
        origin = _origin(root)
        if origin and origin.name == "__init__.py":
            files.update(p for p in origin.parent.rglob("*") if p.suffix in DATA_SUFFIXES)
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _closure(roots: tuple[str, ...]) -> set[str]:
    packages = {"cognate", *(root.split(".")[0] for root in roots)}
    reached: set[str] = set()
    waiting = list(roots)
    while waiting:
        module = waiting.pop()
        foreign = module.split(".")[0] not in packages
        if module in reached or module in IGNORED or foreign or not _origin(module):
            continue
        reached.add(module)
        waiting.extend(_imports(module))
    return reached | {parent for module in reached for parent in _parents(module)}


def _parents(module: str) -> list[str]:
    """Packages around a module. They count, but what they re-export is not followed."""
    parts = module.split(".")
    return [".".join(parts[:i]) for i in range(1, len(parts))]


@cache
def _imports(module: str) -> tuple[str, ...]:
    origin = _origin(module)
    if origin is None:
        return ()
    package = module if origin.name == "__init__.py" else module.rpartition(".")[0]
    names: list[str] = []
    for node in ast.walk(ast.parse(origin.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            source = importlib.util.resolve_name(base, package) if node.level else base
            names.append(source)
            names += [f"{source}.{alias.name}" for alias in node.names]
    return tuple(names)


@cache
def _origin(module: str) -> Path | None:
    """The file of a module, found without running it; None if it is not a Python file."""
    top, *rest = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.origin or not spec.origin.endswith(SOURCE_SUFFIXES):
        return None
    path = Path(spec.origin)
    if rest:
        stem = path.parent.joinpath(*rest)
        path = stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py")
    return path if path.is_file() else None
