import numpy as np
import pytest

pytest.importorskip("torch")

import torch as th
from gymnasium import spaces

from mexenv.games import BatchGame
from mexenv.rules import preset
from training.networks import ActionScoringPolicy

RULESETS = {
    "plan-4": (preset("dominos_cc"), "plan"),
    "base-2": (preset("parsons", players=2, set_max=6, hand_size=7), "base"),
    "plan-3": (preset("pagat", players=3, set_max=9, hand_size=8), "plan"),
    "two-way": (preset("wikipedia", players=3, set_max=6), "plan"),
}


@pytest.fixture(autouse=True)
def one_thread():
    th.set_num_threads(1)


@pytest.fixture(params=RULESETS)
def game(request):
    ruleset, layout = RULESETS[request.param]
    batch = BatchGame(ruleset, 64, seed=3, engine="random", layout=layout, skip_forced=True)
    return play(batch, 12)


def play(batch, steps, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        batch.step((batch.masks * rng.random(batch.masks.shape, np.float32)).argmax(1))
    return batch


def make_policy(batch, privileged=False, seed=0):
    """A policy with weights and input normalisation that are not the initial ones."""
    th.manual_seed(seed)
    policy = ActionScoringPolicy(
        spaces.Box(-128, 127, (batch.layout.size,), np.int8),
        spaces.Discrete(batch.n_actions),
        lambda _: 1e-3,
        ruleset=batch.ruleset,
        layout=batch.layout,
        trunk=16,
        hidden=[16, 16],
        critic=[16],
        privileged=privileged,
    )
    rows = rows_of(batch, privileged)
    policy.fit_inputs(rows, th.from_numpy(batch.masks))
    with th.no_grad():
        for weight in policy.parameters():
            weight.add_(0.1 * th.randn_like(weight))
    return policy


def rows_of(batch, privileged):
    parts = [batch.observations, batch.hidden()] if privileged else [batch.observations]
    return th.from_numpy(np.concatenate(parts, 1))
