import numpy as np
import pytest
import torch as th

from mexenv.rules import ActionLayout
from tests.training.conftest import make_policy, play, rows_of


@pytest.mark.parametrize("privileged", [False, True])
def test_legal_actions_alone_give_the_same_as_the_whole_table(game, privileged):
    policy = make_policy(game, privileged)
    rows, masks = rows_of(game, privileged), th.from_numpy(game.masks)
    with th.no_grad():
        actions, values, logs = policy(rows, action_masks=masks)
        again, same_logs, entropy = policy.evaluate_actions(rows, actions, masks)
        full = policy.get_distribution(rows, None)
        full.apply_masking(game.masks)
    assert (game.masks[np.arange(game.n_games), actions] == 1).all()
    assert th.allclose(logs, same_logs, atol=1e-5) and th.equal(values, again)
    assert th.allclose(full.log_prob(actions), logs, atol=1e-4)
    assert th.allclose(full.entropy(), entropy, atol=1e-4)
    assert th.equal(policy.act(rows, masks), full.distribution.probs.argmax(1))


def test_whole_numbers_and_scaled_floats_are_the_same_position(game):
    policy = make_policy(game)
    floats = th.from_numpy(game.layout.to_float(game.observations))
    with th.no_grad():
        assert th.equal(policy.logits(rows_of(game, False), game.masks), policy.logits(floats, game.masks))


def test_illegal_actions_have_no_chance_and_no_gradient(game):
    policy = make_policy(game)
    logits = policy.logits(rows_of(game, False), game.masks)
    assert (logits[th.from_numpy(game.masks) == 0] == -1e9).all()
    assert th.isfinite(logits).all()


def test_sampling_follows_the_probabilities(game):
    policy = make_policy(game)
    choices = int(game.masks.sum(1).argmax())
    row = rows_of(game, False)[choices : choices + 1].expand(4000, -1)
    masks = np.repeat(game.masks[choices : choices + 1], 4000, 0)
    with th.no_grad():
        actions = policy(row, action_masks=masks)[0]
        chances = policy.logits(row[:1], masks[:1]).softmax(1)[0]
    found = th.bincount(actions, minlength=len(chances)) / 4000
    assert (found - chances).abs().max() < 0.04


def test_the_actor_needs_no_hidden_hands_and_the_critic_says_when_it_does(game):
    policy = make_policy(game, privileged=True)
    both, public = rows_of(game, True), rows_of(game, False)
    assert th.equal(policy.act(both, game.masks), policy.act(public, game.masks))
    with pytest.raises(ValueError, match="hands"):
        policy.predict_values(public)
    swapped = th.cat([public, both[:, public.shape[1] :].flip(0)], 1)
    with th.no_grad():
        assert th.equal(policy.logits(both, game.masks), policy.logits(swapped, game.masks))
        assert not th.equal(policy.predict_values(both), policy.predict_values(swapped))


def test_predict_is_the_interface_of_stable_baselines3(game):
    policy = make_policy(game)
    action, state = policy.predict(game.observations[0], action_masks=game.masks[0], deterministic=True)
    assert game.masks[0, int(action)] == 1 and state is None


def test_an_action_is_described_by_what_concerns_it(game):
    """The joined and the free half are those that the train's end says."""
    policy, layout, actions = make_policy(game), game.layout, ActionLayout(game.ruleset)
    rows, ids = th.nonzero(th.from_numpy(game.masks), as_tuple=True)
    features = policy.features
    with th.no_grad():
        inputs = features.actions(features.position(rows_of(game, False)), rows, ids).numpy()
    plays = 0
    for row, action, told in zip(rows.tolist(), ids.tolist(), inputs, strict=True):
        kind, tile, train, half = actions.decode(action)
        assert told[0] == (kind == "draw") and told[1] == (kind == "pass")
        if kind != "play":
            continue
        plays += 1
        ends = layout["ends"].of(game.observations[row])[train]
        by_high = ends[tile[0]] if half is None else half == 0
        joined, free = tile if by_high else tile[::-1]
        assert ends[joined] == 1
        assert told[features.named("own")] == (train == 0)
        assert told[features.named("mexican")] == (train == game.players)
        column = told[features.named("joined")]
        assert column == pytest.approx(joined / game.ruleset.set_max)
        assert told[features.named("free")] == pytest.approx(free / game.ruleset.set_max)
        order = layout["double_order"].of(game.observations[row])
        lies_on = layout["double_train"].of(game.observations[row])
        here = lies_on[joined] == train + 1
        assert told[features.named("covers")] == here
        assert told[features.named("covers_first")] == (here and order[joined] == 1)
    assert plays > 50


def test_positions_vary(game):
    play(game, 3)
    assert len(np.unique(game.observations, axis=0)) == game.n_games
