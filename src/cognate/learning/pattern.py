"""Pattern encoder: sparse convolution over the nonzero coordinates, in plain torch.

Coordinates of each layer are kept as sorted keys; which input site each output site reads at
each place of the kernel is a table that is made once for a pattern. A layer is then one gather,
one matrix product and, backwards, one scatter. At the active sites the result is that of a
dense convolution with zero padding.

Strided layers follow MinkowskiEngine, which WACO uses: an output site is active when one of the
2 × 2 input sites that it replaces is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cognate.learning.tiles import PooledPattern

Keys = NDArray[np.int64]

_ROW = np.int64(1) << 32


@dataclass(frozen=True)
class Layer:
    """A layer's kernel size, stride and channels out."""

    kernel: int
    stride: int
    channels: int


WACO_LAYERS = (Layer(5, 1, 32), *[Layer(3, 2, 32)] * 13)
"""WACO (ASPLOS 2023), read from its code: 5 × 5, then thirteen 3 × 3 of stride 2."""

DEEP_LAYERS = (
    Layer(5, 1, 16),
    *[
        layer
        for width in (32, 32, 64, 64, 96, 128, 128, 128)
        for layer in (Layer(3, 2, width), Layer(3, 1, width))
    ],
)
"""Deeper, with channels that grow; COGNATE's own widths could not be verified."""

LAYERS = {"waco": WACO_LAYERS, "deep": DEEP_LAYERS}

INPUT_CHANNELS = 2
"""A one, and the log of the entries that pooling put into the cell."""


@dataclass(frozen=True)
class Pyramid:
    """The sites of every layer on one pattern, and what each reads."""

    features: NDArray[np.float32]
    """Shape (sites, INPUT_CHANNELS)."""
    tables: tuple[NDArray[np.int64], ...]
    """A layer each, shape (its sites, kernel²): the input site at each place, or -1."""


def build_pyramid(pattern: PooledPattern, layers: Sequence[Layer]) -> Pyramid:
    """Kernel maps of all layers; equal consecutive geometries share one table."""
    keys = pattern.rows.astype(np.int64) * _ROW + pattern.columns
    counts = np.log2(np.maximum(1, pattern.counts)) / 8
    features = np.stack([np.ones_like(counts), counts], axis=1).astype(np.float32)
    tables = []
    for layer in layers:
        outputs = _halved(keys) if layer.stride == 2 else keys
        tables.append(_kernel_table(keys, outputs, layer))
        keys = outputs
    return Pyramid(features, tuple(tables))


def _halved(keys: Keys) -> Keys:
    rows, columns = keys // _ROW, keys % _ROW
    return np.unique((rows // 2) * _ROW + columns // 2)


def _kernel_table(inputs: Keys, outputs: Keys, layer: Layer) -> NDArray[np.int64]:
    reach = layer.kernel // 2
    step = np.arange(-reach, reach + 1)
    rows = (outputs // _ROW * layer.stride)[:, None, None] + step[None, :, None]
    columns = (outputs % _ROW * layer.stride)[:, None, None] + step[None, None, :]
    wanted = (rows * _ROW + columns).reshape(len(outputs), layer.kernel**2)
    outside = ((rows < 0) | (columns < 0)).reshape(len(outputs), layer.kernel**2)
    place = np.minimum(np.searchsorted(inputs, wanted), len(inputs) - 1)
    if not len(inputs):
        return np.full(wanted.shape, -1)
    return np.where((inputs[place] == wanted) & ~outside, place, -1)


@dataclass(frozen=True)
class Batch:
    """Pyramids of several patterns as one."""

    features: Tensor
    tables: tuple[Tensor, ...]
    """As a pyramid's, but places that read nothing point one past the last input site."""
    owners: tuple[Tensor, ...]
    """A layer each, shape (its sites,): which pattern a site belongs to."""
    size: int


def join(pyramids: Sequence[Pyramid]) -> Batch:
    """One batch; a pattern without entries has no sites and pools to zeros."""
    tables, owners = [], []
    extents = np.array([len(p.features) for p in pyramids])
    for level in range(len(pyramids[0].tables)):
        offsets = np.concatenate([[0], np.cumsum(extents)[:-1]])
        total = int(extents.sum())
        parts = [
            np.where(p.tables[level] < 0, total, p.tables[level] + offset)
            for p, offset in zip(pyramids, offsets, strict=True)
        ]
        tables.append(torch.from_numpy(np.concatenate(parts)))
        extents = np.array([len(part) for part in parts])
        owners.append(torch.from_numpy(np.repeat(np.arange(len(parts)), extents)))
    features = torch.from_numpy(np.concatenate([p.features for p in pyramids]))
    return Batch(features, tuple(tables), tuple(owners), len(pyramids))


class _GatherProduct(torch.autograd.Function):
    """``gather(x, table) @ weight``; its gradient gathers again instead of keeping copies."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, table: Tensor, weight: Tensor) -> Tensor:
        """x (sites, cin), table (out, k²), weight (k² · cin, cout) -> (out, cout)."""
        padded = torch.cat([x, x.new_zeros(1, x.shape[1])])
        ctx.save_for_backward(padded, table, weight)
        return padded[table.view(-1)].view(len(table), -1) @ weight

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, None, Tensor]:
        """Gradients of x and weight."""
        padded, table, weight = ctx.saved_tensors
        (gradient,) = gradients
        places = table.view(-1)
        gathered = padded[places].view(len(table), -1)
        of_weight = gathered.t() @ gradient
        if not ctx.needs_input_grad[0]:
            return None, None, of_weight
        spread = (gradient @ weight.t()).view(len(places), -1)
        reads = (places < len(padded) - 1).nonzero().view(-1)
        of_x = torch.zeros_like(padded).index_add_(0, places[reads], spread[reads])
        return of_x[:-1], None, of_weight


class SparseConvolution(nn.Module):
    """A convolution without bias at active sites only."""

    def __init__(self, channels: int, layer: Layer):
        super().__init__()
        places = layer.kernel**2
        self.weight = nn.Parameter(torch.empty(places * channels, layer.channels))
        # Of a kernel's places about half read a site, which He's initialisation allows for.
        nn.init.normal_(self.weight, std=(4 / (places * channels)) ** 0.5)

    def forward(self, x: Tensor, table: Tensor) -> Tensor:
        """x (sites in, channels in) -> (sites out, channels out)."""
        product: Tensor = _GatherProduct.apply(x, table, self.weight)  # type: ignore[no-untyped-call]
        return product


class PatternEncoder(nn.Module):
    """Convolutions with ReLU; the mean over sites of every layer, joined and mapped down."""

    def __init__(self, layers: Sequence[Layer], size: int):
        super().__init__()
        channels = [INPUT_CHANNELS, *[layer.channels for layer in layers]]
        self.convolutions = nn.ModuleList(
            SparseConvolution(c, layer) for c, layer in zip(channels, layers, strict=False)
        )
        pooled = sum(channels[1:])
        self.head = nn.Sequential(
            nn.LayerNorm(pooled), nn.Linear(pooled, 2 * size), nn.ReLU(), nn.Linear(2 * size, size)
        )

    def forward(self, batch: Batch) -> Tensor:
        """Shape (patterns, size)."""
        embedding: Tensor = self.head(self.pooled(batch))
        return embedding

    def pooled(self, batch: Batch) -> Tensor:
        """Shape (patterns, sum of channels): every layer's mean over the sites of a pattern."""
        x, means = batch.features, []
        for convolution, table, owner in zip(
            self.convolutions, batch.tables, batch.owners, strict=True
        ):
            x = torch.relu(convolution(x, table))
            total = x.new_zeros(batch.size, x.shape[1]).index_add(0, owner, x)
            count = torch.bincount(owner, minlength=batch.size).clamp(min=1)
            means.append(total / count[:, None])
        return torch.cat(means, dim=1)
