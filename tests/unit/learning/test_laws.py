import numpy as np
import pytest
import scipy.optimize

from cognate.errors import ModelError
from cognate.learning.blend import TilesSettings, parse_settings
from cognate.learning.laws import (
    Roofline,
    _Lists,
    _unflatten,
    fit_process,
    fit_roofline,
    fit_trees,
    law_tensors,
    trees_from,
)

LISTS, SCHEDULES, TERMS, OWN = 4, 30, 3, 2


def made_up(seed: int) -> tuple[Roofline, list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    random = np.random.default_rng(seed)
    law = Roofline(
        random.normal(size=TERMS), random.normal(size=(TERMS, OWN)), np.array([0.5, 0.4])
    )
    terms = [3 * random.normal(size=(SCHEDULES, TERMS)) for _ in range(LISTS)]
    imbalance = [random.random(SCHEDULES) for _ in range(LISTS)]
    own = [(random.random((SCHEDULES, OWN)) < 0.5) * 1.0 for _ in range(LISTS)]
    return law, terms, imbalance, own


def test_the_gradient_is_right() -> None:
    law, terms, imbalance, own = made_up(0)
    times = [law(*each) for each in zip(terms, imbalance, own, strict=True)]
    lists = _Lists.of(terms, imbalance, own, times)
    at = np.random.default_rng(1).normal(size=TERMS * (1 + OWN) + 2)
    error = scipy.optimize.check_grad(
        lambda x: lists.cost(_unflatten(x, TERMS, OWN))[0],
        lambda x: lists.cost(_unflatten(x, TERMS, OWN))[1],
        at,
    )
    assert error < 1e-5


def test_a_roofline_is_found_again_from_its_own_times() -> None:
    law, terms, imbalance, own = made_up(2)
    times = [law(*each) + 7 for each in zip(terms, imbalance, own, strict=True)]
    found = fit_roofline(terms, imbalance, own, times, tightness=1e-7)
    _, new_terms, new_imbalance, new_own = made_up(3)
    for each in zip(new_terms, new_imbalance, new_own, strict=True):
        difference = found(*each) - law(*each)
        assert difference.std() < 0.05 * law(*each).std()


def test_a_tight_prior_is_kept_and_a_loose_one_is_not() -> None:
    law, terms, imbalance, own = made_up(4)
    times = [law(*each) for each in zip(terms, imbalance, own, strict=True)]
    prior = Roofline(np.array([5.0, -5.0, 0.0]), np.zeros((TERMS, 0)), np.zeros(2))
    tight = fit_roofline(terms, imbalance, own, times, prior, tightness=1e4)
    loose = fit_roofline(terms, imbalance, own, times, prior, tightness=1e-6)
    assert np.abs(tight.weights - prior.weights).max() < 0.01
    assert np.abs(loose.weights - prior.weights).max() > 1


def test_a_process_interpolates_and_falls_back_far_away() -> None:
    random = np.random.default_rng(0)
    features = [random.normal(size=(60, 2)) for _ in range(3)]
    times = [np.sin(f[:, 0]) + 0.5 * f[:, 1] for f in features]
    process = fit_process(features, times, noise=1e-4)
    inside = 0.5 * random.normal(size=(50, 2))
    truth = np.sin(inside[:, 0]) + 0.5 * inside[:, 1]
    said = process(inside)
    assert np.corrcoef(said, truth)[0, 1] > 0.97
    far, farther = process(np.full((1, 2), 1e3)), process(np.full((1, 2), 1e6))
    np.testing.assert_allclose(far, farther)


def test_trees_are_repeatable_and_come_back_from_tensors() -> None:
    random = np.random.default_rng(0)
    features = [random.normal(size=(80, 3)) for _ in range(2)]
    times = [(f[:, 0] > 0) * 1.0 for f in features]
    first, second = (fit_trees(features, times, 5, 2, 30, 3, 0.3) for _ in range(2))
    np.testing.assert_array_equal(first(features[0]), second(features[0]))
    again = trees_from(law_tensors(first))
    np.testing.assert_array_equal(first(features[0]), again(features[0]))
    assert first(features[0])[features[0][:, 0] > 0].min() > 0


def test_settings_parse_and_mistakes_are_refused() -> None:
    assert parse_settings("prior=0,noise=0.5") == TilesSettings(prior=0, noise=0.5)
    for text in ("depths=3", "noise=loud"):
        with pytest.raises(ModelError):
            parse_settings(text)
