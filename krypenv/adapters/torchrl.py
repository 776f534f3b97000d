"""TorchRL: the games as one batched environment, `KrypenvEnv(Rules.preset("krypkasino"), 256)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.arguments import check_seed
from krypenv.envs.base import successive_seeds
from krypenv.envs.learner import ALL, LearnerGames
from krypenv.envs.opponents import RANDOM, Opponents
from krypenv.inputs.words import to_install
from krypenv.rules import RulesLike

try:
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase
except ImportError as error:
    raise ImportError(f"krypenv.adapters.torchrl needs TorchRL; {to_install('torchrl')}") from error


class KrypenvEnv(EnvBase):
    """B games of one learner, or of all seats, as a TorchRL environment with the batch size [B].

    It plays all rules. Its entries, beside `done` and `terminated`, (B, 1) bool:

    - `observation`, (B, N) int8, `action_mask`, (B, A) bool, and `seat`, (B,) int64: the decision of the seat to act.
    - `action`, (B,) int64; an illegal one raises IllegalMove. Random actions follow the mask, under transforms with
      `ActionMask()`.
    - `reward`, (B, 1) float32: what the learner earned up to its next decision. With `seat="all"`, (B, P): what every
      seat earned. Advantages over such a row would mix the seats, and TorchRL refuses the shapes: keep one stream of
      experience for each game and seat.

    After a game that ended, `next` holds what the seat that acted sees at the end, with a mask of ones: nothing is
    chosen there, and `MaskedCategorical` makes NaN of a mask of zeros. The next game is dealt already, and a reset
    shows it. `set_seed(s)` begins new games in all rows: game i has the seed `s + i`.

    Args:
        rules: the rules of all games, or their text or fields.
        num_envs: B.
        seat, opponents, keywords: those of `krypenv.envs.learner.LearnerGames`, which is `batch`: `reward`, `dense`,
            `features`, `history`, `threads` and `seed`.
        device: where the entries lie; the games themselves are played on the CPU.

    >>> env = KrypenvEnv(Rules.preset("krypkasino"), 256, opponents="tactician", dense=True, features=True)
    >>> env.rollout(20, break_when_any_done=False)["next", "reward"].mean()  # doctest: +SKIP
    """

    batch_locked = True

    def __init__(
        self,
        rules: RulesLike,
        num_envs: int,
        seat: int | str = 0,
        opponents: Opponents = RANDOM,
        device: Any = None,
        **keywords: Any,
    ) -> None:
        batch = LearnerGames(rules, num_envs, seat, opponents, **keywords)
        super().__init__(device=device, batch_size=torch.Size([num_envs]))
        self.batch, rules = batch, batch.rules
        self._is_new = np.ones(num_envs, np.bool_)  # whether the learner has made no decision in a game yet
        size, width = (num_envs,), batch.observation.shape[1]
        self.observation_spec = Composite(
            observation=Unbounded((*size, width), dtype=torch.int8),
            action_mask=Binary(shape=(*size, rules.num_actions), dtype=torch.bool),
            seat=Categorical(rules.players, size),
            shape=size,
        ).to(device)
        self.action_spec = Categorical(rules.num_actions, size).to(device)
        self.reward_spec = Unbounded((*size, rules.players if seat == ALL else 1)).to(device)

    def _reset(self, tensordict: TensorDictBase | None = None, **options: Any) -> TensorDictBase:
        """Show new games in the rows of the entry `_reset`, or in all; abandon those that are in progress."""
        mask = None if tensordict is None else tensordict.get("_reset", None)
        is_reset = np.ones_like(self._is_new) if mask is None else mask.cpu().numpy().reshape(-1)
        self.batch.restart(np.flatnonzero(is_reset & ~self._is_new))
        self._is_new |= is_reset
        return self._entries(np.zeros_like(self._is_new), self.batch.seats)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        batch = self.batch
        batch.step(tensordict["action"].cpu().numpy())
        self._is_new = batch.done.copy()
        rewards = batch.rewards if batch.seat == ALL else batch.reward[:, None]
        entries = self._entries(batch.done, np.where(batch.done, batch.acting, batch.seats))
        return entries.set("reward", torch.tensor(rewards, dtype=torch.float32))

    def _entries(self, done: npt.NDArray[np.bool_], seats: npt.NDArray[np.int32]) -> TensorDictBase:
        """Return the entries of every row: of the next decision, or of the end where the game is done."""
        batch, ended = self.batch, done[:, None]
        mask = torch.tensor(batch.action_mask, dtype=torch.bool)
        self.action_spec.update_mask(mask.to(self.action_spec.device))  # of the next decision, also where a game ended
        observations = np.where(ended, batch.final_observation, batch.observation)
        over = torch.tensor(ended)
        entries = {
            "observation": torch.from_numpy(observations), "action_mask": mask | over,
            "seat": torch.tensor(seats, dtype=torch.int64), "done": over, "terminated": over.clone(),
        }  # fmt: skip
        return TensorDict(entries, self.batch_size, device=self.device)

    def _set_seed(self, seed: int | None) -> None:
        """Begin new games in all rows, game i with the seed `seed + i`."""
        if seed is None:
            return
        rows = np.arange(len(self._is_new))
        self.batch.restart(rows, successive_seeds(check_seed(seed), len(rows)))
        self._is_new[:] = True
