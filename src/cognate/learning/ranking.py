"""Losses over rankings, and Kendall's τ, for lists of different lengths in one batch.

Scores and targets have shape (lists, longest), ``mask`` says which entries are there. A lower
score means faster.
"""

import torch
from torch import Tensor

MARGIN = 1.0
"""WACO's margin, read from its code."""

TEMPERATURE = 0.5
"""Of the list-wise loss: a schedule that is e times slower weighs e² times less."""


def pairwise_loss(scores: Tensor, log_seconds: Tensor, mask: Tensor) -> Tensor:
    """Mean of max(0, MARGIN - difference of scores) over the pairs of a list that differ.

    The difference counts as positive when the slower schedule has the higher score, so the loss
    is zero when every pair is ordered rightly by the margin. Lists weigh equally; equal times
    do not count. Shape ().
    """
    slower = log_seconds[:, :, None] > log_seconds[:, None, :]
    slower = slower & mask[:, :, None] & mask[:, None, :]
    violation = torch.relu(MARGIN - (scores[:, :, None] - scores[:, None, :]))
    pairs = slower.sum(dim=(1, 2))
    per_list = (violation * slower).sum(dim=(1, 2)) / pairs.clamp(min=1)
    loss: Tensor = per_list.sum() / (pairs > 0).sum().clamp(min=1)
    return loss


def listwise_loss(scores: Tensor, log_seconds: Tensor, mask: Tensor) -> Tensor:
    """Cross-entropy between the soft choices of the fastest by time and by score (ListNet,
    ICML 2007), less the entropy of the former, so that equal choices give zero. Shape ()."""
    hidden = torch.finfo(scores.dtype).min
    wanted = torch.softmax((-log_seconds / TEMPERATURE).masked_fill(~mask, hidden), dim=1)
    logs = torch.log_softmax((-scores).masked_fill(~mask, hidden), dim=1)
    entropy = torch.special.entr(wanted).sum(dim=1)
    loss: Tensor = (-(wanted * logs.masked_fill(~mask, 0)).sum(dim=1) - entropy).mean()
    return loss


LOSSES = {"pairwise": pairwise_loss, "listwise": listwise_loss}


def kendall_tau(scores: Tensor, log_seconds: Tensor, mask: Tensor) -> Tensor:
    """Shape (lists,): concordant less discordant pairs, over the pairs whose times differ."""
    both = mask[:, :, None] & mask[:, None, :]
    truth = torch.sign(log_seconds[:, :, None] - log_seconds[:, None, :]) * both
    said = torch.sign(scores[:, :, None] - scores[:, None, :])
    tau: Tensor = (truth * said).sum(dim=(1, 2)) / truth.abs().sum(dim=(1, 2)).clamp(min=1)
    return tau
