import itertools

import pytest
import torch

from cognate.learning.encoding import one_hot
from cognate.learning.latent import train_latent_encoder
from cognate.schedules import Parameter, ScheduleSpace

SPACE = ScheduleSpace(
    "latent",
    [
        Parameter("tile", (1, 2, 4), 1),
        Parameter("format", ("csr", "bcsr", "dcsr"), "csr"),
        Parameter("chunk", (1, 8, 32, 64), 8),
        Parameter("prefetch", (0, 1), 0),
    ],
    forbids=lambda s: "no" if s["format"] == "bcsr" and s["prefetch"] else None,
)
NAMES = ("format", "chunk", "prefetch")


@pytest.mark.parametrize("kind", ["ae", "vae", "pca"])
def test_codes_reconstruct_the_parameters(kind: str) -> None:
    encoder = train_latent_encoder(SPACE, NAMES, kind, size=8, seed=0)
    x = torch.from_numpy(one_hot(SPACE, NAMES).encode(list(SPACE)))
    assert torch.equal(encoder.reconstruct(encoder(x)), x)


@pytest.mark.parametrize("kind", ["ae", "vae", "pca"])
def test_codes_are_standardised_and_tell_combinations_apart(kind: str) -> None:
    encoder = train_latent_encoder(SPACE, NAMES, kind, size=6, seed=1)
    one_tile = [s for s in SPACE if s["tile"] == 1]
    codes = encoder(torch.from_numpy(one_hot(SPACE, NAMES).encode(one_tile)))
    assert torch.allclose(codes.mean(dim=0), torch.zeros(6), atol=1e-4)
    spread = codes.std(dim=0, correction=0)
    assert ((spread - 1).abs() < 1e-3).sum() >= 5
    for left, right in itertools.combinations(codes, 2):
        assert (left - right).norm() > 0.1


def test_training_is_repeatable_and_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = train_latent_encoder(SPACE, NAMES, "vae", 4, seed=3)
    assert torch.equal(torch.get_rng_state(), before)
    again = train_latent_encoder(SPACE, NAMES, "vae", 4, seed=3)
    for left, right in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(left, right)
    assert not any(p.requires_grad for p in first.parameters())


def test_a_platform_without_own_parameters_has_constant_codes() -> None:
    encoder = train_latent_encoder(SPACE, (), "ae", 4, seed=0)
    codes = encoder(torch.zeros(3, 0))
    assert torch.equal(codes, torch.zeros(3, 4))
