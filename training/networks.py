"""The policy: one small network scores every legal action, another values the position.

Only legal actions are computed. The critic may also see the other seats' hands during training; the actor
never does, and the columns that hold them are not needed to play.
"""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch as th
from gymnasium import spaces
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn

from mexenv.observation import ObservationLayout
from mexenv.rules.ruleset import Ruleset
from training.features import PositionFeatures
from training.inputs import InputWriter, PositionInputs, input_tables
from training.loss_kernels import best_actions, draw_actions

ILLEGAL = -1e9
"""The logit of an action that is not legal. Finite, so that no arithmetic on it gives NaN."""


def _layers(sizes: list[int]) -> nn.Sequential:
    """Returns linear layers of these sizes with a ReLU after each."""
    steps: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        steps += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*steps)


class InputNorm(nn.Module):
    """Shifts and scales inputs by figures taken once from real positions, and then kept.

    Args:
        size: Numbers in a row.
    """

    mean: th.Tensor
    inverse: th.Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", th.zeros(size))
        self.register_buffer("inverse", th.ones(size))

    @th.no_grad()
    def fit(self, rows: th.Tensor) -> None:
        """Takes mean and spread from rows; a column that hardly varies is not blown up."""
        self.mean.copy_(rows.mean(0))
        self.inverse.copy_(1.0 / rows.std(0).clamp(min=0.03))

    def forward(self, rows: th.Tensor) -> th.Tensor:
        """Returns the rows normalised, cut at +-8."""
        return ((rows - self.mean) * self.inverse).clamp(-8.0, 8.0)


class ActionScorer(nn.Module):
    """Scores actions from their own features and a summary of the position.

    Args:
        state_size: Numbers in a row about a position.
        action_size: Numbers in a row about an action.
        trunk: Width of the layer that summarises the position.
        hidden: Widths of the layers that score an action.
    """

    def __init__(self, state_size: int, action_size: int, trunk: int, hidden: list[int]) -> None:
        super().__init__()
        self.state_norm = InputNorm(state_size)
        self.action_norm = InputNorm(action_size)
        self.trunk = _layers([state_size, trunk])
        self.from_state = nn.Linear(trunk, hidden[0], bias=False)
        self.from_action = nn.Linear(action_size, hidden[0])
        self.body = _layers(hidden)
        self.score = nn.Linear(hidden[-1], 1)
        self.direct = nn.Linear(action_size, 1, bias=False)

    def forward(self, state: th.Tensor, rows: th.Tensor, actions: th.Tensor) -> th.Tensor:
        """Returns one score for each action.

        Args:
            state: float32 `[batch, state_size]`.
            rows: int64 `[k]`, the position of each action.
            actions: float32 `[k, action_size]`.
        """
        return self.scores(self.state_norm(state), rows, self.action_norm(actions))

    def scores(self, state: th.Tensor, rows: th.Tensor, actions: th.Tensor) -> th.Tensor:
        """Returns one score for each action; the arguments are as for `forward`, but normalised."""
        summary = self.from_state(self.trunk(state))
        hidden = th.relu(self.from_action(actions) + summary.index_select(0, rows))
        return (self.score(self.body(hidden)) + self.direct(actions)).squeeze(1)


class Critic(nn.Module):
    """Values a position for the seat to move.

    Args:
        features: Where positions come from.
        hidden: Widths of the layers.
        privileged: Whether rows end with the other seats' hands.
    """

    def __init__(self, features: PositionFeatures, hidden: list[int], privileged: bool) -> None:
        super().__init__()
        self.privileged = privileged
        size = self.size(features, privileged)
        self.norm = InputNorm(size)
        self.body = _layers([size, *hidden])
        self.value = nn.Linear(hidden[-1], 1)

    @staticmethod
    def size(features: PositionFeatures, privileged: bool) -> int:
        """Returns the number of columns that a critic reads."""
        hands = (features.players - 1) * features.hand_summary.shape[1] if privileged else 0
        return features.state_size + features.width("ends") + hands

    def inputs(self, features: PositionFeatures, position: th.Tensor, observation: th.Tensor) -> th.Tensor:
        """Returns the rows that the critic reads, float32 `[batch, size]`."""
        parts = [features.state(position), features.part(position, "ends")]
        if self.privileged:
            hidden = observation[:, features.observation_size :].float()
            hands = hidden.reshape(-1, features.players - 1, features.n_tiles)
            # Sums for each hand say as much as its single tiles, and are learned from fewer games.
            parts.append((hands @ features.hand_summary).flatten(1))
        return th.cat(parts, 1)

    def forward(self, rows: th.Tensor) -> th.Tensor:
        """Returns values, float32 `[batch, 1]`."""
        return self.values(self.norm(rows))

    def values(self, rows: th.Tensor) -> th.Tensor:
        """Returns values, float32 `[batch, 1]`, from rows that are normalised."""
        return self.value(self.body(rows))


class ActionScoringPolicy(MaskableActorCriticPolicy):
    """Actor and critic for MaskablePPO, made for the actions of Mexican Train.

    Observations may be whole numbers or scaled floats. With a privileged critic, training rows carry the
    other seats' hands behind the public observation; playing needs the public part only.

    Args:
        observation_space: Box of the public observation.
        action_space: Discrete, the ruleset's actions.
        lr_schedule: Learning rate by the remaining share of training.
        ruleset: The ruleset played.
        layout: The observation layout.
        trunk: Width of the position summary.
        hidden: Widths of the layers that score an action.
        critic: Widths of the critic's layers.
        privileged: Whether the critic sees the other seats' hands.
        **kwargs: As for the base class (`optimizer_class`, `optimizer_kwargs`).
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Discrete,
        lr_schedule: Any,
        *,
        ruleset: Ruleset,
        layout: ObservationLayout,
        trunk: int = 64,
        hidden: list[int] | None = None,
        critic: list[int] | None = None,
        privileged: bool = False,
        **kwargs: Any,
    ) -> None:
        self.ruleset, self.layout = ruleset, layout
        self.sizes: dict[str, Any] = {
            "trunk": trunk,
            "hidden": list(hidden or [64, 64]),
            "critic": list(critic or [128, 64]),
            "privileged": privileged,
        }
        super().__init__(observation_space, action_space, lr_schedule, net_arch=[], **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        self.features = PositionFeatures(self.ruleset, self.layout)
        self.tables = input_tables(self.features)
        sizes = self.sizes
        self.actor = ActionScorer(
            self.features.state_size, self.features.action_size, sizes["trunk"], sizes["hidden"]
        )
        self.critic = Critic(self.features, sizes["critic"], sizes["privileged"])
        for module, gain in ((self.actor, np.sqrt(2)), (self.critic, np.sqrt(2))):
            module.apply(partial(self.init_weights, gain=gain))
        # Start near the uniform policy, so that early games are varied.
        for last, gain in ((self.actor.score, 0.01), (self.actor.direct, 0.01), (self.critic.value, 0.1)):
            self.init_weights(last, gain)
        # The fused step is worth several percent of an update with this many small tensors.
        self.optimizer = self.optimizer_class(
            self.parameters(), lr=lr_schedule(1), fused=True, **self.optimizer_kwargs
        )

    def _get_constructor_parameters(self) -> dict[str, Any]:
        data = super()._get_constructor_parameters()
        for name in ("net_arch", "activation_fn", "ortho_init", "features_extractor_class"):
            data.pop(name, None)
        data.pop("features_extractor_kwargs", None)
        return data | {"ruleset": self.ruleset, "layout": self.layout, **self.sizes}

    @th.no_grad()
    def fit_inputs(self, observations: th.Tensor, masks: th.Tensor) -> None:
        """Sets the input normalisation from real positions; to be called once, before learning.

        Args:
            observations: `[n, size]`, with the hidden hands behind where the critic is privileged.
            masks: int8 `[n, n_actions]`.
        """
        position = self.features.position(observations)
        rows, actions = th.nonzero(masks, as_tuple=True)
        self.actor.state_norm.fit(self.features.state(position))
        self.actor.action_norm.fit(self.features.actions(position, rows, actions))
        self.critic.norm.fit(self.critic.inputs(self.features, position, observations))

    def forward(
        self, obs: th.Tensor, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """Returns actions `[batch]`, values `[batch, 1]` and log-probabilities `[batch]`."""
        position = self.features.position(obs)
        actions, log_prob = self._choose(position, obs, action_masks, deterministic)
        return actions, self._value(position, obs), log_prob

    def act(self, obs: th.Tensor, action_masks: Any, deterministic: bool = True) -> th.Tensor:
        """Returns actions `[batch]`, without asking the critic; public observations suffice."""
        if obs.dtype == th.int8 and obs.device.type == "cpu" and self.device.type == "cpu":
            return self._act(self.writer().actor_inputs(obs.numpy(), np.asarray(action_masks)), deterministic)
        return self._choose(self.features.position(obs), obs, action_masks, deterministic)[0]

    def writer(self) -> InputWriter:
        """Returns what makes inputs of int8 observations; it holds the normalisation of this moment."""
        return InputWriter(self.tables, self.actor.state_norm, self.actor.action_norm, self.critic.norm)

    def judge(
        self, inputs: th.Tensor, rows: th.Tensor, action_inputs: th.Tensor
    ) -> tuple[th.Tensor, th.Tensor]:
        """Returns scores of actions `[k]` and values of positions `[batch]`.

        Args:
            inputs: float32 `[batch, state and critic]`, normalised.
            rows: int64 `[k]`, the position of each action.
            action_inputs: float32 `[k, action_size]`, normalised.
        """
        state = inputs[:, : self.features.state_size]
        values = self.critic.values(inputs[:, self.features.state_size :]).squeeze(1)
        return self.actor.scores(state, rows, action_inputs), values

    def _act(self, made: PositionInputs, deterministic: bool) -> th.Tensor:
        slots = np.zeros(len(made.inputs), np.int64)
        with th.no_grad():
            state, actions = th.from_numpy(made.inputs), th.from_numpy(made.action_inputs)
            scores = self.actor.scores(state, made.rows(), actions).numpy()
        if deterministic:
            best_actions(scores, made.starts, slots)
        else:
            uniform = th.rand(len(slots)).numpy()
            draw_actions(scores, made.starts, uniform, slots, np.empty(len(slots), np.float32))
        return th.from_numpy(made.legal[made.starts[:-1] + slots].astype(np.int64))

    def evaluate_actions(
        self, obs: th.Tensor, actions: th.Tensor, action_masks: Any = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """Returns values `[batch, 1]`, log-probabilities of the actions and entropies `[batch]`."""
        position = self.features.position(obs)
        rows, legal, table, slots = self._score(position, obs, action_masks)
        logs = table.log_softmax(1)
        taken = legal == actions.long().flatten().index_select(0, rows)
        log_prob = logs[rows[taken], slots[taken]]
        entropy = -(logs.exp() * logs.clamp(min=-60.0)).sum(1)
        return self._value(position, obs), log_prob, entropy

    def predict_values(self, obs: th.Tensor) -> th.Tensor:
        """Returns values, float32 `[batch, 1]`."""
        return self._value(self.features.position(obs), obs)

    def logits(self, obs: th.Tensor, action_masks: Any = None) -> th.Tensor:
        """Returns float32 `[batch, n_actions]`; `ILLEGAL` where an action is not legal."""
        rows, actions, scores = self._legal_scores(self.features.position(obs), obs, action_masks)
        full = th.full((len(obs), int(self.action_space.n)), ILLEGAL, device=scores.device)
        return full.index_put((rows, actions), scores)

    def get_distribution(self, obs: th.Tensor, action_masks: Any = None) -> MaskableDistribution:
        """Returns the distribution over all actions, in the form that stable-baselines3 knows."""
        distribution = self.action_dist.proba_distribution(action_logits=self.logits(obs, action_masks))
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution

    def _legal_scores(
        self, position: th.Tensor, obs: th.Tensor, action_masks: Any
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        shape = (len(obs), int(self.action_space.n))
        if action_masks is None:
            masks = th.ones(shape, dtype=th.bool, device=obs.device)
        else:
            masks = th.as_tensor(action_masks, device=obs.device).reshape(shape)
        rows, actions = th.nonzero(masks, as_tuple=True)
        with th.no_grad():
            state = self.features.state(position)
            inputs = self.features.actions(position, rows, actions)
        return rows, actions, self.actor(state, rows, inputs)

    def _choose(
        self, position: th.Tensor, obs: th.Tensor, action_masks: Any, deterministic: bool
    ) -> tuple[th.Tensor, th.Tensor]:
        rows, actions, table, slots = self._score(position, obs, action_masks)
        if deterministic:
            slot = table.argmax(1)
        else:
            # The largest of logit + Gumbel noise is a draw from the softmax.
            slot = (table - th.empty_like(table).exponential_().log()).argmax(1)
        listed = th.zeros_like(table, dtype=th.int64)
        listed[rows, slots] = actions
        chosen = listed.gather(1, slot.unsqueeze(1)).squeeze(1)
        return chosen, table.log_softmax(1).gather(1, slot.unsqueeze(1)).squeeze(1)

    def _score(
        self, position: th.Tensor, obs: th.Tensor, action_masks: Any
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor, th.Tensor]:
        """Scores the legal actions and lines them up: a row a position, as wide as the longest list."""
        rows, actions, scores = self._legal_scores(position, obs, action_masks)
        counts = th.bincount(rows, minlength=len(obs))
        starts = counts.cumsum(0) - counts
        slots = th.arange(len(rows), device=rows.device) - starts.index_select(0, rows)
        table = th.full((len(obs), int(counts.max())), ILLEGAL, device=scores.device)
        return rows, actions, table.index_put((rows, slots), scores), slots

    def _value(self, position: th.Tensor, obs: th.Tensor) -> th.Tensor:
        if self.critic.privileged and obs.shape[1] == self.features.observation_size:
            raise ValueError(
                f"observation: {obs.shape[1]} columns, but this critic also reads the other seats' hands; "
                "allowed: rows with the hands behind the observation (actions need only the observation)"
            )
        return self.critic(self.critic.inputs(self.features, position, obs))
