"""`krypenv data`: agents play, and every decision becomes a row of a file.

The games of a file are played at once, then replayed decision by decision.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

import krypenv
from krypenv import observation
from krypenv.advice.values import examined
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.inputs.files import write_whole
from krypenv.rules import Rules
from krypenv.training.data.columns import arrow, columns_of, encode_rows
from krypenv.training.data.croissant import write_croissant
from krypenv.training.data.reading import CARD, FORMAT, KIND, DataSet, load
from krypenv.training.evaluation.analysis.analysis import Judge
from krypenv.training.evaluation.arena.arena import MOST_MATCHES, Seating, seatings
from krypenv.training.evaluation.luck.game_luck import REDEALS, luck_of_game
from krypenv.training.evaluation.luck.meter import control_of
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.margins import leads_over_others
from krypenv.training.evaluation.matches.mixed_table import play_table
from krypenv.training.evaluation.matches.players import (
    facts_of,
    make_fresh_player,
    make_player,
    name_of,
    seed_of,
)
from krypenv.training.runs import Header, Progress, Task, open_run
from krypenv.training.settings.base import AgentName, File, option, output
from krypenv.training.settings.groups import AGENTS, LENGTH, MEASURED, Place, RulesOfAgents, seed_option

CHUNK = 100  # games in a file
Row = dict[str, Any]  # by column; a null value may be missing


class DataSettings(RulesOfAgents, Place):
    """The settings of `krypenv data`. Raises ValueError if one is out of bounds."""

    command: ClassVar[str] = "data"

    agent: AgentName = option(..., "agent that plays, in every seat unless --against is given", is_argument=True)
    out: File = output(..., "folder of the data set; one that was begun in this folder is resumed", "DIR")
    against: tuple[AgentName, ...] = option((), "agent on the other sides; several take turns, in all seatings", AGENTS)
    games: int = option(1000, "games to play", LENGTH, ge=1, le=10_000_000)
    seed: int = seed_option("seed of the deals and of the agents' random choices")
    values: bool = option(False, "add the expected margin of every open move, and the regret", MEASURED)
    analyst: AgentName | None = option(None, "who values the moves; implies --values [default: the player]", MEASURED)
    luck: bool = option(False, "add what the cards of each deal brought the seat's side", MEASURED)
    text: bool = option(False, "add what the seat sees in words, as language models read it", MEASURED)
    croissant: bool = output(False, "also write croissant.json, the metadata that data loaders read")

    @property
    def agents(self) -> tuple[str, ...]:
        """All agents, to whose numbers the seatings refer."""
        return self.agent, *self.against

    def game_rules(self) -> Rules:
        """Choose the rules: by default those of the first model among the agents."""
        return self.rules_for(self.agents)

    @property
    def options(self) -> list[str]:
        """The options that add columns."""
        chosen = {"values": self.values or self.analyst, "luck": self.luck, "text": self.text}
        return [name for name, is_chosen in chosen.items() if is_chosen]

    @property
    def seatings(self) -> tuple[Seating, ...]:
        """The seatings that the games cycle through: the agent on one side, an agent of `against` on each other side.

        Each agent of a table sits in every place, and after every other one, equally often. Raises ValueError for more
        than `MOST_MATCHES` tables.
        """
        sides, others = self.game_rules().num_teams, len(self.against)
        if not others:
            return ((0,) * sides,)
        if math.comb(others + sides - 2, sides - 1) > MOST_MATCHES:
            raise ValueError(f"{others} agents on {sides - 1} sides make more than {MOST_MATCHES:,} tables; name fewer")
        tables = combinations_with_replacement(range(1, others + 1), sides - 1)
        return tuple(seating for table in tables for seating in seatings((0, *table)))


def make_data(settings: DataSettings, progress: Progress = lambda done, games: None) -> DataSet:
    """Play the games that a folder lacks, write its card, and return the data set.

    The rows depend only on `agent`, `against`, `rules`, `games`, `seed`, `values`, `analyst`, `luck` and `text`. If the
    process is killed, each worker loses the games of at most one file. Raises ValueError with one sentence, and writes
    nothing, for agents that can't be made or value no moves, without pyarrow, and for a folder that holds another data
    set.
    """
    arrow()
    folder, header = settings.out, _header(settings)
    with open_run(folder, header, settings.workers, settings.ray) as run:
        seeds, analysts = deal_seeds(settings.seed, settings.games), header.identity["analysts"]
        tasks = []
        for number, first in enumerate(range(0, settings.games, CHUNK)):
            its = {"settings": settings, "analysts": analysts, "first": first, "seeds": seeds[first : first + CHUNK]}
            key, size = f"{len(its['seeds'])} games from {first}", len(its["seeds"])
            tasks.append(Task(key, play_rows, its, size, f"games-{number:05d}.parquet"))
        digests = run.do_all(tasks, progress)
        shared = ("rules", "seed", "games", "agents", "analysts")
        card = {
            "kind": KIND, "format": FORMAT, "observation": observation.VERSION, "krypenv": krypenv.__version__,
            "command": settings.changed(workers=1, ray=False, croissant=False).line,
            **{name: header.identity[name] for name in shared},
            "luck": header.identity["control"],
            "options": settings.options,
            "files": {task.file: digests[task.key] for task in tasks},
        }  # fmt: skip
        write_whole(folder / CARD, (json.dumps(card, indent=1) + "\n").encode())
    data = load(folder)
    if settings.croissant:
        write_croissant(folder, data.card, data.columns)
    return data


def _header(settings: DataSettings) -> Header:
    """Make the header of the journal; raises ValueError for agents that can't play or value moves."""
    rules, sources = settings.game_rules(), settings.agents
    agents = [facts_of(source, make_fresh_player(source, rules, settings.seed)) for source in sources]
    has_values = settings.values or settings.analyst
    analysts = [str(Judge.of(rules, settings.analyst or source).agent) for source in sources] if has_values else []
    identity: dict[str, Any] = settings.identity() | {
        "against": [*settings.against], "rules": str(rules), "agents": agents,
        "seatings": [list(seating) for seating in settings.seatings], "analysts": analysts,
        "control": str(control_of(rules, REDEALS)) if settings.luck else None, "chunk": CHUNK,
    }  # fmt: skip
    return Header(KIND, identity, {"command": settings.line})


# ---------------------------------------------------------------------- the rows of a file


def play_rows(settings: DataSettings, analysts: Sequence[str], first: int, seeds: npt.NDArray[np.uint64]) -> bytes:
    """Play n games with fresh agents, and return the bytes of the file of their rows.

    Args:
        settings: those of the data set.
        analysts: the agent that values the moves of each agent; empty for no values.
        first: number of the first game.
        seeds: (n,) of their deals.
    """
    rules, seatings = settings.game_rules(), settings.seatings
    lineup = np.array(seatings)[(first + np.arange(len(seeds))) % len(seatings)]
    made = [
        make_fresh_player(source, rules, seed_of(settings.seed, first, at)) for at, source in enumerate(settings.agents)
    ]
    names = list(map(name_of, settings.agents, made))
    actions: list[list[int]] = [[] for _ in seeds]

    def note_actions(rows: npt.NDArray[np.int64], chosen: npt.NDArray[np.int64]) -> None:
        for row, action in zip(rows.tolist(), chosen.tolist(), strict=True):
            actions[row].append(action)

    scores = play_table(made, rules, seeds, lineup, on_step=note_actions).scores
    margins = leads_over_others(rules, scores)
    columns = columns_of(rules, settings.options)
    rows: list[Row] = []
    for at, game_actions in enumerate(actions):
        by_side = [analysts[agent] for agent in lineup[at]] if analysts else []
        decisions = _replay(settings, Game(rules, seed=int(seeds[at])), game_actions, by_side)
        for row in decisions:
            side = row["seat"] % rules.num_teams
            row |= {"game": first + at, "seed": int(seeds[at]), "agent": names[lineup[at, side]]}
            row |= {"score": int(scores[at, side]), "margin": float(margins[at, side])}
        rows += decisions
    return encode_rows({column.name: [row.get(column.name) for row in rows] for column in columns}, columns)


def _replay(settings: DataSettings, game: Game, actions: list[int], analysts: list[str]) -> list[Row]:
    """List the decisions of a game, or of all games of a session, without the columns of its result.

    Moves are valued by the analyst of each side, if there are analysts.
    """
    rows: list[Row] = []
    before, begun, start = game, 0, 0  # the game before a move, and the rows at which that move and that game begin
    for ply, action in enumerate(actions):
        if game.is_over:
            game, start = game.next_game(), ply
        row: Row = {
            "ply": ply, "deal": game.deal_number, "seat": game.turn, "action": action,
            "observation": game.observation(), "mask": game.action_mask(),
        }  # fmt: skip
        if begun == ply and settings.text:
            row["text"] = game.view(game.turn)
        if begun == ply and analysts:
            before = game.copy()
        rows.append(row)
        game.act(action)
        move = None if game.pending else game.last_move
        if move:
            for row in rows[begun:]:
                row["move"] = str(move)
            if analysts:
                rows[begun] |= _values_of(before, move, analysts[before.turn % len(analysts)], settings.seed)
            begun = ply + 1
        if game.is_over and settings.luck:
            luck = luck_of_game(game)
            for row in rows[start:]:
                row["luck"] = float(luck.luck[luck.deals.index(row["deal"]), row["seat"] % game.rules.num_teams])
    return rows


def _values_of(game: Game, move: Move, analyst: str, seed: int) -> Row:
    """Value the open moves of a decision, best first, as in an analysis of the game."""
    moves, evaluation = examined(game, make_player(analyst, game.rules, seed), played=move)
    margins = evaluation.margins
    order = np.argsort(-margins.mean(axis=0), kind="stable").tolist()
    names = [str(moves[at]) for at in order]
    behind = margins[:, order[0]] - margins[:, order[names.index(str(move))]]
    return {
        "moves": names, "margins": [float(margins[:, at].mean()) for at in order], "regret": float(behind.mean()),
    }  # fmt: skip
