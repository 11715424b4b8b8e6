"""Make the stored tables of the embedded corpus anew: ``python -m cognate.matrices.tables``."""

from pathlib import Path

from cognate.files import write_text
from cognate.matrices import embedded, splits

SPLIT_SEED = 2
"""The first seed that gives each part two or more skewed, blocked, shuffled, tall and wide ones."""


def main() -> None:
    """Build every matrix, then write ``data/embedded.csv`` and ``data/split_embedded.csv``."""
    folder = Path(__file__).parent / "data"
    catalogue = embedded.describe_all()
    write_text(folder / "embedded.csv", catalogue.to_csv(index=False, lineterminator="\n"))
    parts = catalogue[["name", "family"]].assign(split=splits.split(catalogue, seed=SPLIT_SEED))
    write_text(folder / "split_embedded.csv", parts.to_csv(index=False, lineterminator="\n"))


if __name__ == "__main__":
    main()
