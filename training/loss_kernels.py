"""Compiled kernels on lists of legal actions: drawing, the PPO loss with its gradient, minibatches.

A position's scores stand in one stretch of a list, without padding, so a softmax costs as much as there are
legal actions.
"""

import math

import numba
import numpy as np

POLICY, VALUE, ENTROPY, CLIPPED, KL = range(5)
"""Places of the sums that `ppo_gradients` makes."""


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _log_total(scores: np.ndarray, begin: int, end: int) -> float:
    """Returns the logarithm of the sum of exponentials."""
    top = scores[begin]
    for k in range(begin + 1, end):
        top = max(top, scores[k])
    total = 0.0
    for k in range(begin, end):
        total += math.exp(scores[k] - top)
    return top + math.log(total)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def draw_actions(
    scores: np.ndarray, starts: np.ndarray, uniform: np.ndarray, slots: np.ndarray, logs: np.ndarray
) -> None:
    """Draws from the softmax of each position's scores.

    Args:
        scores: float32 `[k]`.
        starts: int64 `[n + 1]`, where each position's scores begin.
        uniform: float32 `[n]`, random numbers from 0 up to 1.
        slots: int64 `[n]`, written: the place of the drawn action among the legal ones.
        logs: float32 `[n]`, written: its log-probability.
    """
    for i in range(slots.shape[0]):
        begin, end = starts[i], starts[i + 1]
        log_total = _log_total(scores, begin, end)
        left = float(uniform[i])
        chosen = end - 1  # rounding may leave a little of the sum
        for k in range(begin, end):
            left -= math.exp(scores[k] - log_total)
            if left < 0.0:
                chosen = k
                break
        slots[i] = chosen - begin
        logs[i] = scores[chosen] - log_total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def best_actions(scores: np.ndarray, starts: np.ndarray, slots: np.ndarray) -> None:
    """Finds the first of each position's highest scores; arguments as for `draw_actions`."""
    for i in range(slots.shape[0]):
        best = starts[i]
        for k in range(starts[i] + 1, starts[i + 1]):
            if scores[k] > scores[best]:
                best = k
        slots[i] = best - starts[i]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def gather_positions(
    places: np.ndarray,
    starts: np.ndarray,
    counts: np.ndarray,
    inputs: np.ndarray,
    action_inputs: np.ndarray,
    to_starts: np.ndarray,
    to_rows: np.ndarray,
    to_inputs: np.ndarray,
    to_action_inputs: np.ndarray,
) -> None:
    """Copies the inputs of some decisions together.

    Args:
        places: int64 `[n]`, which decisions.
        starts: int64, where the list of each decision of the buffer begins.
        counts: int64, its length.
        inputs: float32 `[decisions, state and critic]`.
        action_inputs: float32 `[actions, action_size]`.
        to_starts: int64 `[n + 1]`, written; likewise the rest.
        to_rows: int64 `[k]`, the position of each action.
        to_inputs: float32 `[n, state and critic]`.
        to_action_inputs: float32 `[k, action_size]`.
    """
    k = 0
    width, action_size = inputs.shape[1], action_inputs.shape[1]
    for i in range(places.shape[0]):
        place = places[i]
        for c in range(width):
            to_inputs[i, c] = inputs[place, c]
        to_starts[i] = k
        for source in range(starts[place], starts[place] + counts[place]):
            for c in range(action_size):
                to_action_inputs[k, c] = action_inputs[source, c]
            to_rows[k] = i
            k += 1
    to_starts[places.shape[0]] = k


@numba.njit(cache=True, nogil=True, error_model="numpy")
def ppo_gradients(
    scores: np.ndarray,
    starts: np.ndarray,
    slots: np.ndarray,
    old_logs: np.ndarray,
    advantages: np.ndarray,
    values: np.ndarray,
    old_values: np.ndarray,
    returns: np.ndarray,
    clip: float,
    value_clip: float,
    entropy_weight: float,
    value_weight: float,
    total: int,
    d_scores: np.ndarray,
    d_values: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Computes the loss of `MaskablePPO.train` and its gradient in the networks' outputs.

    Args:
        scores: float32 `[k]`, of the legal actions.
        starts: int64 `[n + 1]`, where each decision's scores begin.
        slots: int64 `[n]`, the place of the action taken among the legal ones.
        old_logs: float32 `[n]`, its log-probability when it was taken.
        advantages: float32 `[n]`.
        values: float32 `[n]`, the critic's estimates.
        old_values: float32 `[n]`, those of the rollout.
        returns: float32 `[n]`.
        clip: How far a ratio of probabilities counts.
        value_clip: How far a value may move; infinite for any distance.
        entropy_weight: Weight of the entropy bonus.
        value_weight: Weight of the critic's loss.
        total: Decisions in the whole minibatch, of which these may be a part: losses are means over it.
        d_scores: float32 `[k]`, written.
        d_values: float32 `[n]`, written.
        sums: float64 `[5]`, added to: policy loss, value loss, entropy, clipped ratios, divergence.
    """
    share = 1.0 / total
    for i in range(slots.shape[0]):
        begin, end = starts[i], starts[i + 1]
        log_total = _log_total(scores, begin, end)
        entropy = 0.0
        for k in range(begin, end):
            log = scores[k] - log_total
            entropy -= math.exp(log) * log
        log_ratio = scores[begin + slots[i]] - log_total - old_logs[i]
        ratio = math.exp(log_ratio)
        plain = advantages[i] * ratio
        clipped = advantages[i] * min(max(ratio, 1.0 - clip), 1.0 + clip)
        # Where the clipped one is less it is flat, and elsewhere the two have the same slope.
        slope = -plain * share if plain <= clipped else 0.0
        for k in range(begin, end):
            log = scores[k] - log_total
            chance = math.exp(log)
            taken = 1.0 if k == begin + slots[i] else 0.0
            d_scores[k] = slope * (taken - chance) + entropy_weight * share * chance * (log + entropy)
        moved = values[i] - old_values[i]
        error = old_values[i] + min(max(moved, -value_clip), value_clip) - returns[i]
        inside = abs(moved) <= value_clip
        d_values[i] = 2.0 * value_weight * share * error if inside else 0.0
        sums[POLICY] -= min(plain, clipped)
        sums[VALUE] += error * error
        sums[ENTROPY] += entropy
        sums[CLIPPED] += abs(ratio - 1.0) > clip
        sums[KL] += ratio - 1.0 - log_ratio
