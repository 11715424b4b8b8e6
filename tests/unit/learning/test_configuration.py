import pytest

from cognate.errors import ModelError
from cognate.learning.configuration import BASES, parse_configuration, source_name


def test_variants_parse_and_print() -> None:
    text = "cognate:latent=pca,predictor=gru,learning_rate=0.01,tune_frozen=pattern+mapper"
    configuration = parse_configuration(text)
    assert configuration.latent == "pca"
    assert configuration.learning_rate == 0.01
    assert configuration.tune_frozen == ("pattern", "mapper")
    written = configuration.difference(BASES["cognate"])
    assert BASES["cognate"].changed(written) == configuration


@pytest.mark.parametrize(
    "text",
    ["kognate", "cognate:latent", "cognate:latent=umap", "cognate:depth=2", "cognate:epochs=many",
     "cognate:tune_frozen=head"],
)  # fmt: skip
def test_mistakes_are_refused(text: str) -> None:
    with pytest.raises(ModelError):
        parse_configuration(text)


def test_variants_of_fine_tuning_share_a_source_model() -> None:
    assert source_name("cognate") == "cognate"
    assert source_name("cognate:tune_frozen=,tune_epochs=3") == "cognate"
    assert source_name("cognate:latent=vae,tune_epochs=3") == "cognate:latent=vae"
    assert parse_configuration(source_name("waco-fa")) == BASES["waco-fa"].source_part()


def test_every_frozen_part_can_be_thawed() -> None:
    assert parse_configuration("cognate:tune_frozen=").tune_frozen == ()
