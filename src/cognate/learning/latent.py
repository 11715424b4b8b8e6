"""Latent encoders: platform-specific parameters as a short code that any platform can fill.

Each is made from the platform's schedule space alone, without a measurement, and then frozen.
Codes have mean 0 and variance 1 over the space, so that one platform's can take the place of
another's.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from cognate.learning.encoding import OneHot, one_hot
from cognate.learning.threads import one_thread
from cognate.schedules import Schedule, ScheduleSpace

COMBINATIONS_LIMIT = 2048
"""Combinations of parameter values to train on, drawn at random where there are more."""

STEPS = 400
KL_WEIGHT = 0.003


class LatentEncoder(nn.Module, ABC):
    """Encodes one-hot parameters (n, width) as codes (n, size), and back as logits."""

    def __init__(self, encoding: OneHot, size: int):
        super().__init__()
        self.encoding = encoding
        self.size = size
        self.mean = nn.Buffer(torch.zeros(size))
        self.scale = nn.Buffer(torch.ones(size))

    @abstractmethod
    def raw(self, x: Tensor) -> Tensor:
        """Codes before they are standardised."""

    @abstractmethod
    def logits(self, raw: Tensor) -> Tensor:
        """The value of each parameter that a raw code stands for: the largest logit."""

    def forward(self, x: Tensor) -> Tensor:
        """Standardised codes."""
        return (self.raw(x) - self.mean) / self.scale

    def standardise(self, x: Tensor) -> None:
        """Let the codes of ``x`` have mean 0 and variance 1."""
        with torch.no_grad():
            raw = self.raw(x)
            self.mean.copy_(raw.mean(dim=0))
            self.scale.copy_(raw.std(dim=0, correction=0).clamp(min=1e-3))

    def reconstruct(self, codes: Tensor) -> Tensor:
        """One-hot parameters that standardised codes stand for."""
        logits = self.logits(codes * self.scale + self.mean)
        parts = [
            nn.functional.one_hot(part.argmax(dim=1), part.shape[1]).to(codes.dtype)
            for part in torch.split(logits, list(self.encoding.sizes), dim=1)
        ]
        return torch.cat(parts, dim=1)


class Autoencoder(LatentEncoder):
    """Two layers each way; with ``variational``, codes are drawn around their means."""

    def __init__(self, encoding: OneHot, size: int, variational: bool):
        super().__init__(encoding, size)
        self.variational = variational
        self.encoder = nn.Sequential(nn.Linear(encoding.width, 64), nn.ReLU(), nn.Linear(64, size))
        self.spread = nn.Linear(encoding.width, size) if variational else None
        self.decoder = nn.Sequential(nn.Linear(size, 64), nn.ReLU(), nn.Linear(64, encoding.width))

    def raw(self, x: Tensor) -> Tensor:
        """Codes, for the variational one their means."""
        code: Tensor = self.encoder(x)
        return code

    def logits(self, raw: Tensor) -> Tensor:
        """Decoded."""
        decoded: Tensor = self.decoder(raw)
        return decoded

    def loss(self, x: Tensor) -> Tensor:
        """Cross-entropy of every parameter, and the divergence of the codes from N(0, 1)."""
        code = self.raw(x)
        divergence = torch.zeros(())
        if self.spread is not None:
            log_variance = self.spread(x)
            divergence = 0.5 * (code**2 + log_variance.exp() - 1 - log_variance).sum(1).mean()
            code = code + torch.randn_like(code) * (0.5 * log_variance).exp()
        offset, error = 0, torch.zeros(())
        logits = self.logits(code)
        for size in self.encoding.sizes:
            part = slice(offset, offset + size)
            error = error + nn.functional.cross_entropy(logits[:, part], x[:, part].argmax(dim=1))
            offset += size
        return error + KL_WEIGHT * divergence


class PrincipalComponents(LatentEncoder):
    """Projection on the directions of largest variance; unused dimensions are zero."""

    def __init__(self, encoding: OneHot, size: int):
        super().__init__(encoding, size)
        self.centre = nn.Buffer(torch.zeros(encoding.width))
        self.directions = nn.Buffer(torch.zeros(encoding.width, size))

    def fit(self, x: Tensor) -> None:
        """Find the directions of ``x``."""
        self.centre.copy_(x.mean(dim=0))
        _, _, directions = torch.linalg.svd(x - self.centre, full_matrices=False)
        kept = directions[: self.size].t()
        self.directions[:, : kept.shape[1]] = kept

    def raw(self, x: Tensor) -> Tensor:
        """Projected."""
        return (x - self.centre) @ self.directions

    def logits(self, raw: Tensor) -> Tensor:
        """Projected back."""
        return raw @ self.directions.t() + self.centre


def make_latent_encoder(encoding: OneHot, kind: str, size: int) -> LatentEncoder:
    """An untrained encoder of ``kind`` ae, vae or pca."""
    if kind == "pca":
        return PrincipalComponents(encoding, size)
    return Autoencoder(encoding, size, variational=kind == "vae")


@one_thread()
def train_latent_encoder(
    space: ScheduleSpace, names: Sequence[str], kind: str, size: int, seed: int
) -> LatentEncoder:
    """Learn the codes of the parameters ``names`` of ``space``; frozen when returned."""
    encoding = one_hot(space, names)
    x = torch.from_numpy(encoding.encode(_combinations(space, names, seed)))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        encoder = make_latent_encoder(encoding, kind, size)
        if isinstance(encoder, PrincipalComponents):
            encoder.fit(x)
        elif isinstance(encoder, Autoencoder) and encoding.width:
            optimiser = torch.optim.Adam(encoder.parameters(), lr=1e-2)
            schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
            for _ in range(STEPS):
                optimiser.zero_grad()
                part = x[torch.randint(len(x), (min(len(x), 256),))]
                encoder.loss(part).backward()  # type: ignore[no-untyped-call]
                optimiser.step()
                schedule.step()
        encoder.standardise(x)
    return encoder.requires_grad_(False).eval()


def _combinations(space: ScheduleSpace, names: Sequence[str], seed: int) -> list[Schedule]:
    """Schedules that differ in ``names``, one for each combination found."""
    found: dict[tuple[object, ...], Schedule] = {}
    for schedule in space.sample(4 * COMBINATIONS_LIMIT, seed):
        found.setdefault(tuple(schedule[name] for name in names), schedule)
    every = list(found.values())
    if len(every) <= COMBINATIONS_LIMIT:
        return every
    chosen = np.random.default_rng(seed).choice(len(every), COMBINATIONS_LIMIT, replace=False)
    return [every[i] for i in chosen]
