import numpy as np
import scipy.stats
import torch

from cognate.learning.ranking import LOSSES, MARGIN, TEMPERATURE, kendall_tau, pairwise_loss


def batch(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(seed)
    log_seconds = torch.rand(3, 9, generator=random) * 4
    mask = torch.ones(3, 9, dtype=torch.bool)
    mask[1, 6:] = False
    return log_seconds, mask


def test_a_perfect_ranking_costs_nothing_beyond_the_margin() -> None:
    log_seconds, mask = batch()
    places = log_seconds.argsort(dim=1).argsort(dim=1).float()
    assert pairwise_loss(places * MARGIN * 1.001, log_seconds, mask) == 0
    assert pairwise_loss(places * MARGIN * 0.5, log_seconds, mask) > 0
    assert pairwise_loss(-places, log_seconds, mask) > 1


def test_list_wise_loss_is_zero_for_the_true_log_times() -> None:
    log_seconds, mask = batch()
    assert LOSSES["listwise"](log_seconds / TEMPERATURE + 3, log_seconds, mask).abs() < 1e-5
    assert LOSSES["listwise"](-log_seconds, log_seconds, mask) > 0.5


def test_what_is_masked_does_not_count() -> None:
    log_seconds, mask = batch()
    scores = torch.randn(3, 9, generator=torch.Generator().manual_seed(1))
    changed_scores, changed_times = scores.clone(), log_seconds.clone()
    changed_scores[~mask], changed_times[~mask] = 1e3, -1e3
    for function in (*LOSSES.values(), kendall_tau):
        expected = function(scores, log_seconds, mask)
        assert torch.allclose(function(changed_scores, changed_times, mask), expected)


def test_pairwise_loss_equals_the_margin_ranking_loss_over_all_pairs() -> None:
    log_seconds, _ = batch()
    scores = torch.randn(1, 9, generator=torch.Generator().manual_seed(2))
    left, right = np.triu_indices(9, 1)
    times = log_seconds[0]
    expected = torch.nn.functional.margin_ranking_loss(
        scores[0][left], scores[0][right], torch.sign(times[left] - times[right]), margin=MARGIN
    )
    found = pairwise_loss(scores, log_seconds[:1], torch.ones(1, 9, dtype=torch.bool))
    assert torch.allclose(found, expected)


def test_tau_equals_scipy() -> None:
    log_seconds, mask = batch()
    scores = torch.randn(3, 9, generator=torch.Generator().manual_seed(3))
    found = kendall_tau(scores, log_seconds, mask)
    for i in range(3):
        expected = scipy.stats.kendalltau(scores[i][mask[i]], log_seconds[i][mask[i]]).statistic
        assert np.isclose(float(found[i]), expected)


def test_equal_times_are_no_pairs() -> None:
    mask = torch.ones(1, 4, dtype=torch.bool)
    times = torch.ones(1, 4)
    assert pairwise_loss(torch.randn(1, 4), times, mask) == 0
    assert kendall_tau(torch.randn(1, 4), times, mask) == 0
