import numpy as np
import pytest
import torch as th

from tests.training.conftest import make_policy, rows_of
from training.inputs import PositionInputs
from training.loss_kernels import best_actions, draw_actions


def made_by_kernels(policy, batch, privileged):
    writer = policy.writer()
    starts = np.concatenate([[0], np.cumsum(writer.counts(batch.masks))])
    critic = policy.critic.norm.mean.shape[0]
    made = PositionInputs(
        np.full((batch.n_games, writer.state_size + critic), np.nan, np.float32),
        starts,
        np.zeros(starts[-1], np.int32),
        np.full((starts[-1], policy.features.action_size), np.nan, np.float32),
    )
    hidden = batch.hidden() if privileged else None
    writer.write(made, batch.observations, hidden, batch.masks)
    return made


@pytest.mark.parametrize("privileged", [False, True])
def test_kernels_make_the_inputs_that_the_features_describe(game, privileged):
    policy = make_policy(game, privileged)
    made = made_by_kernels(policy, game, privileged)
    rows, actions = th.nonzero(th.from_numpy(game.masks), as_tuple=True)
    observations, features = rows_of(game, privileged), policy.features
    with th.no_grad():
        position = features.position(observations)
        state = policy.actor.state_norm(features.state(position))
        critic = policy.critic.norm(policy.critic.inputs(features, position, observations))
        told = policy.actor.action_norm(features.actions(position, rows, actions))
    assert made.legal.tolist() == actions.tolist() and th.equal(made.rows(), rows)
    expected = th.cat([state, critic], 1).numpy()
    assert np.allclose(made.inputs, expected, atol=1e-5)
    for column, name in enumerate(features.action_names):
        assert np.allclose(made.action_inputs[:, column], told[:, column], atol=1e-5), name
    # Columns that never vary would hide a mix-up.
    assert (np.ptp(made.inputs, 0) > 0).mean() > 0.5 and (np.ptp(made.action_inputs, 0) > 0).mean() > 0.5


def test_a_part_is_made_as_the_whole_is(game):
    policy = make_policy(game)
    made = made_by_kernels(policy, game, False)
    part = made.part(16, 40)
    with th.no_grad():
        whole, values = policy.judge(
            th.from_numpy(made.inputs), made.rows(), th.from_numpy(made.action_inputs)
        )
        scores, some = policy.judge(
            th.from_numpy(part.inputs), part.rows(), th.from_numpy(part.action_inputs)
        )
        logits = policy.logits(rows_of(game, False), game.masks)
    assert th.allclose(whole[made.starts[16] : made.starts[40]], scores, atol=1e-5)
    assert th.allclose(values[16:40], some, atol=1e-5)
    assert th.allclose(logits[made.rows(), th.from_numpy(made.legal).long()], whole, atol=1e-4)


def test_acting_on_whole_numbers_is_acting_on_scaled_floats(game):
    policy = make_policy(game)
    floats = th.from_numpy(game.layout.to_float(game.observations))
    chosen, other = policy.act(rows_of(game, False), game.masks), policy.act(floats, game.masks)
    logits = policy.logits(floats, game.masks)
    place = th.arange(len(chosen))
    assert th.allclose(logits[place, chosen], logits[place, other], atol=1e-4)
    drawn = policy.act(rows_of(game, False), game.masks > 0, deterministic=False)
    assert (game.masks[place, drawn] == 1).all() and not th.equal(drawn, chosen)


def test_draws_follow_the_softmax_and_the_best_is_the_first_of_the_highest():
    scores = np.array([0.3, -1.0, 2.0, 5.0, 1.0, 1.0, -2.0], np.float32)
    starts = np.array([0, 3, 4, 7])
    uniform = np.linspace(0, 1, 10_001, dtype=np.float32)[:-1]
    seen = np.zeros(7)
    slots, logs = np.zeros(3, np.int64), np.zeros(3, np.float32)
    chances = np.concatenate([np.exp(part) / np.exp(part).sum() for part in np.split(scores, starts[1:-1])])
    for number in uniform:
        draw_actions(scores, starts, np.full(3, number), slots, logs)
        seen[starts[:-1] + slots] += 1
        assert np.allclose(np.exp(logs), chances[starts[:-1] + slots], atol=1e-6)
    assert np.allclose(seen / len(uniform), chances, atol=2e-4)
    best_actions(scores, starts, slots)
    assert slots.tolist() == [2, 0, 0]
