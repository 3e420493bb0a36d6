"""The update on lists of legal actions is MaskablePPO's own: same gradients, weights and log."""

import copy

import pytest
import torch as th
from stable_baselines3.common.logger import Logger

from mexenv.games import BatchGame
from mexenv.rules import preset
from training.ppo import SelfPlayPPO
from training.update import PIECE

RULES = preset("dominos_cc", players=3, set_max=6, hand_size=6)
ODD = {
    "clip_range_vf": 0.05,
    "ent_coef": 0.03,
    "vf_coef": 0.7,
    "max_grad_norm": 0.1,
    "clip_range": 0.05,
    "normalize_advantage": False,
}


def model_with_a_rollout(decisions=640, **kwargs):
    batch = BatchGame(RULES, 32, seed=1, engine="random", layout="plan", skip_forced=True)
    fields = {
        "policy_kwargs": {"trunk": 16, "hidden": [16, 16], "critic": [16]},
        "batch_size": decisions // 4,
        "n_epochs": 3,
        "learning_rate": 3e-3,
        "seed": 1,
        "ent_coef": 0.01,
        "keep_observations": True,
    } | kwargs
    model = SelfPlayPPO(batch, decisions=decisions, **fields)
    model.set_logger(Logger(None, []))
    model.learn(1)  # so that weights and the optimiser's moments are not those of the beginning
    _, callback = model._setup_learn(1, None, reset_num_timesteps=False)
    model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)
    return model


def learned(model, update):
    """The weights after an update, and its log; the model is as before."""
    before = [copy.deepcopy(part.state_dict()) for part in (model.policy, model.policy.optimizer)]
    rng, updates = copy.deepcopy(model.rollout_buffer.rng), model._n_updates
    model.logger.name_to_value.clear()
    model.update = update
    model.learn_from_rollout()
    after = {name: value.clone() for name, value in model.policy.state_dict().items()}
    log = {key: value for key, value in model.logger.name_to_value.items() if key.startswith("train/")}
    model.policy.load_state_dict(before[0])
    model.policy.optimizer.load_state_dict(before[1])
    model.rollout_buffer.rng, model._n_updates = rng, updates
    return after, log


def distance(one, other):
    return max(float((one[name] - other[name]).abs().max()) for name in one)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("settings", [{}, ODD, {"target_kl": 0.002}], ids=["default", "odd", "target_kl"])
def test_an_update_is_the_stock_update(settings, threads):
    model = model_with_a_rollout(threads=threads, **settings)
    start = {name: value.clone() for name, value in model.policy.state_dict().items()}
    (mine, my_log), (stock, stock_log) = learned(model, "lists"), learned(model, "stock")
    assert distance(mine, stock) < 2e-5 < 1e-3 < distance(start, stock)
    assert my_log.keys() == stock_log.keys()
    for key, value in stock_log.items():
        assert my_log[key] == pytest.approx(value, rel=1e-3, abs=1e-5), key
    # Whatever the loss depends on shows in the weights.
    for name, changed in (("ent_coef", 0.3), ("vf_coef", 0.2), ("max_grad_norm", 0.01)):
        kept = getattr(model, name)
        setattr(model, name, changed)
        assert distance(learned(model, "lists")[0], stock) > 1e-4, name
        setattr(model, name, kept)


def test_an_update_stops_where_the_stock_update_stops():
    model = model_with_a_rollout(target_kl=1e-4, n_epochs=8)
    mine, stock = learned(model, "lists"), learned(model, "stock")
    assert mine[1]["train/n_updates"] == stock[1]["train/n_updates"] < model._n_updates + 8
    assert distance(mine[0], stock[0]) < 2e-5


def test_gradients_of_pieces_add_up_to_those_of_the_minibatch():
    """A minibatch of several pieces, without the optimiser, which hides the scale of a gradient."""
    model = model_with_a_rollout(decisions=2 * PIECE + 700, n_epochs=1, max_grad_norm=1e9)
    model.batch_size = None
    found = {}
    for update in ("lists", "stock"):
        learned(model, update)
        found[update] = {name: weight.grad.clone() for name, weight in model.policy.named_parameters()}
    assert model.rollout_buffer.complete > 2 * PIECE
    for name, stock in found["stock"].items():
        assert th.allclose(found["lists"][name], stock, rtol=1e-3, atol=1e-6), name
        # A shift of all scores changes no probability.
        assert float(stock.abs().max()) > 1e-5 or name == "actor.score.bias", name


def test_threads_change_nothing_but_rounding():
    one, two = (model_with_a_rollout(threads=threads) for threads in (1, 2))
    assert (one.rollout_buffer.slots == two.rollout_buffer.slots).all()
    assert distance(one.policy.state_dict(), two.policy.state_dict()) < 2e-5
    assert two.clock.seconds["backward"] > 0


def test_the_stock_update_needs_observations():
    model = model_with_a_rollout(keep_observations=False)
    model.update = "stock"
    with pytest.raises(ValueError, match="keep_observations"):
        model.learn_from_rollout()
