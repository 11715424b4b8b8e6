import numpy as np
import pytest
import scipy.sparse
import torch

from cognate.learning.pattern import (
    LAYERS,
    Layer,
    PatternEncoder,
    Pyramid,
    SparseConvolution,
    build_pyramid,
    join,
)
from cognate.learning.tiles import PooledPattern, pool_pattern
from cognate.matrices.matrix import SparseMatrix

SMALL = (Layer(5, 1, 4), Layer(3, 2, 6), Layer(3, 1, 5), Layer(3, 2, 3))


def drawn_pattern(seed: int, rows: int = 23, cols: int = 37) -> PooledPattern:
    sparse = scipy.sparse.random_array((rows, cols), density=0.12, rng=np.random.default_rng(seed))
    return pool_pattern(SparseMatrix.from_scipy(sparse, "drawn"), 10_000)


def dense_layers(
    pattern: PooledPattern, pyramid: Pyramid, encoder: PatternEncoder, layers: tuple[Layer, ...]
) -> list[torch.Tensor]:
    """The mean of every layer by conv2d, inactive sites set to zero after each."""
    side = 64
    x = torch.zeros(1, 2, side, side)
    at = torch.from_numpy(pattern.rows).long(), torch.from_numpy(pattern.columns).long()
    x[0, :, at[0], at[1]] = torch.from_numpy(pyramid.features).t()
    active = torch.zeros(side, side, dtype=torch.bool)
    active[at] = True
    means = []
    for layer, convolution in zip(layers, encoder.convolutions, strict=True):
        kernel = convolution.weight.view(layer.kernel, layer.kernel, x.shape[1], layer.channels)
        x = torch.relu(
            torch.nn.functional.conv2d(
                x, kernel.permute(3, 2, 0, 1), stride=layer.stride, padding=layer.kernel // 2
            )
        )
        if layer.stride == 2:
            active = torch.nn.functional.max_pool2d(active[None].float(), 2)[0] > 0
        x = x * active
        means.append(x[0][:, active].mean(dim=1))
    return means


def test_sparse_convolution_equals_dense_at_active_sites() -> None:
    torch.manual_seed(0)
    encoder = PatternEncoder(SMALL, 8)
    pattern = drawn_pattern(1)
    pyramid = build_pyramid(pattern, SMALL)
    expected = torch.cat(dense_layers(pattern, pyramid, encoder, SMALL))
    found = encoder.pooled(join([pyramid]))[0]
    assert torch.allclose(found, expected, atol=1e-5)


def test_gradients_equal_dense_ones() -> None:
    torch.manual_seed(0)
    encoder = PatternEncoder(SMALL, 8)
    pattern = drawn_pattern(2)
    pyramid = build_pyramid(pattern, SMALL)
    gradients = []
    for pooled in (
        encoder.pooled(join([pyramid]))[0],
        torch.cat(dense_layers(pattern, pyramid, encoder, SMALL)),
    ):
        encoder.zero_grad()
        pooled.square().sum().backward()
        gradients.append([c.weight.grad.clone() for c in encoder.convolutions])
    for sparse, dense in zip(*gradients, strict=True):
        assert torch.allclose(sparse, dense, atol=1e-4)


def test_custom_gradient_passes_the_numerical_check() -> None:
    torch.manual_seed(0)
    layer = Layer(3, 2, 3)
    pyramid = build_pyramid(drawn_pattern(3, 9, 9), [Layer(3, 1, 2), layer])
    table = join([pyramid]).tables[1]
    convolution = SparseConvolution(2, layer).double()
    x = torch.randn(len(pyramid.tables[0]), 2, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda v: convolution(v, table), (x,))


@pytest.mark.parametrize("name", LAYERS)
def test_patterns_in_a_batch_do_not_touch_each_other(name: str) -> None:
    torch.manual_seed(0)
    encoder = PatternEncoder(LAYERS[name], 8)
    pyramids = [build_pyramid(drawn_pattern(seed), LAYERS[name]) for seed in range(3)]
    together = encoder(join(pyramids))
    alone = torch.cat([encoder(join([p])) for p in pyramids])
    assert torch.allclose(together, alone, atol=1e-5)


def test_an_empty_pattern_is_encoded_too() -> None:
    empty = pool_pattern(
        SparseMatrix.from_scipy(scipy.sparse.csr_array((5, 7), dtype=np.float32), "empty"), 100
    )
    encoder = PatternEncoder(SMALL, 8)
    pyramids = [build_pyramid(empty, SMALL), build_pyramid(drawn_pattern(4), SMALL)]
    encoded = encoder(join(pyramids))
    assert torch.isfinite(encoded).all()
    assert torch.allclose(encoded[1:], encoder(join(pyramids[1:])), atol=1e-5)


def test_waco_has_fourteen_layers_of_thirty_two_channels() -> None:
    encoder = PatternEncoder(LAYERS["waco"], 8)
    pooled = encoder.pooled(join([build_pyramid(drawn_pattern(5), LAYERS["waco"])]))
    assert pooled.shape == (1, 448)
