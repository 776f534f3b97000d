"""A trained best response: MaskablePPO, as `krypenv train` has it, where all others are one frozen agent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.console import Console

from krypenv.adapters.sb3 import KrypkasinoVecEnv
from krypenv.learner_games import LEARNER, LearnerGames
from krypenv.rules import Rules
from krypenv.training.checkpoint import read_checkpoint
from krypenv.training.folders import is_empty, writing_to
from krypenv.training.network import NetworkAgent
from krypenv.training.selfplay import Run
from krypenv.training.settings import Settings

ROWS = 512  # games at once


class SideGames(LearnerGames):
    """Games in which the learner plays all seats of one side (R16), drawn for each episode, and opponents the rest."""

    def _seat_players(self, rows: npt.NDArray[np.int64]) -> None:
        super()._seat_players(rows)
        sides = self.rules.num_teams
        own = np.arange(self.rules.players) % sides == self._viewers[rows, None] % sides
        self.players[rows] = np.where(own, LEARNER, self.players[rows])


class Response(Run):
    """A run whose learner plays all seats of one side, and whose rivals play all other sides."""

    def _make_games(self, rules: Rules, rows: int, seat: str, seed: int) -> KrypkasinoVecEnv:
        games, it = super()._make_games(rules, rows, seat, seed), self.settings
        games.batch = SideGames(rules, rows, seat, reward=it.reward, dense=it.dense, seed=seed)
        return games


def response_settings(
    target: str, rules: Rules, folder: str | Path, minutes: float = 2.0, frames: int = 0, seed: int = 0
) -> Settings:
    """Return the settings of a run that learns against a target alone, for some minutes or some decisions."""
    return Settings(
        rules=str(rules), out=str(folder), minutes=minutes, frames=frames, seed=seed, rows=0, rival_rows=ROWS,
        rivals=(target,), scripted_share=1.0, snapshots=0, against=(target,),
    )  # fmt: skip


def train_response(settings: Settings, console: Console, command: str = "") -> tuple[NetworkAgent, int, float]:
    """Train as the settings say and write the model; return it as an agent, its decisions and the seconds.

    Goes on from the checkpoint in the folder, if it is of the same settings; raises ValueError if it is of others, and
    where another process is writing to the folder, or the learner diverges.
    """
    folder = Path(settings.out)
    _is_begun(settings, folder)
    with writing_to(folder):
        return _train(Response(settings, folder, _is_begun(settings, folder)), console, command)


def _is_begun(settings: Settings, folder: Path) -> bool:
    """Whether a folder holds a run of these settings; raises ValueError where it holds anything else."""
    if is_empty(folder):
        return False
    if read_checkpoint(folder).settings != settings:
        raise ValueError(f"{folder} holds a response that was trained with other settings; choose another --out")
    return True


def _train(session: Response, console: Console, command: str) -> tuple[NetworkAgent, int, float]:
    settings = session.settings
    try:
        session.train(console)
    except FloatingPointError as error:
        raise ValueError(f"training against {settings.rivals[0]} has diverged: {error}") from None
    session.write_model(command)
    agent = NetworkAgent(session.model.network, session.rules, str(session.folder / "model"), settings.seed)
    return agent, session.model.num_timesteps, session.elapsed
