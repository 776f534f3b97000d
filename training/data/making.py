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
Rows = dict[str, list[Any]]  # by column


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
    with open_run(folder, header, settings.executor) as run:
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
    rows: Rows = {column.name: [] for column in columns}
    for row, game_actions in enumerate(actions):
        begin, by_side = len(rows["ply"]), [analysts[agent] for agent in lineup[row]] if analysts else []
        _replay(rows, Game(rules, seed=int(seeds[row])), game_actions, by_side, settings.seed)
        seats = np.array(rows["seat"][begin:]) % rules.num_teams
        rows["game"] += [first + row] * len(seats)
        rows["seed"] += [int(seeds[row])] * len(seats)
        rows["score"] += scores[row, seats].tolist()
        rows["margin"] += margins[row, seats].tolist()
        rows["agent"] += [names[agent] for agent in lineup[row, seats]]
    return encode_rows(rows, columns)


def _replay(rows: Rows, game: Game, actions: list[int], analysts: list[str], seed: int) -> None:
    """Add the decisions of a game, or of all games of a session, to some rows, without the columns of its result.

    Moves are valued by the analyst of each side, with a seed, if there are analysts.
    """
    before, count = game, 0  # the game before the current move, and the number of the move's actions so far
    for ply, action in enumerate(actions):
        if game.is_over:
            game = game.next_game()
        if count == 0 and analysts:
            before = game.copy()
        if "text" in rows:
            rows["text"].append(None if count else game.view(game.turn))
        for name, value in (
            ("ply", ply), ("deal", game.deal_number), ("seat", game.turn), ("action", action),
            ("observation", game.observation()), ("mask", game.action_mask()),
        ):  # fmt: skip
            rows[name].append(value)
        game.act(action)
        count += 1
        move = None if game.pending else game.last_move
        if move:
            rows["move"] += [str(move)] * count
            if analysts:
                _add_values(rows, before, move, analysts[before.turn % len(analysts)], seed, count)
            count = 0
        if game.is_over and "luck" in rows:
            _add_luck(rows, game)


def _add_values(rows: Rows, game: Game, move: Move, analyst: str, seed: int, actions: int) -> None:
    """Add the values of the open moves, as in an analysis of the game, to the first row of a move."""
    moves, evaluation = examined(game, make_player(analyst, game.rules, seed), played=move)
    margins = evaluation.margins
    order = np.argsort(-margins.mean(axis=0), kind="stable").tolist()
    names = [str(moves[at]) for at in order]
    behind = margins[:, order[0]] - margins[:, order[names.index(str(move))]]
    within = [None] * (actions - 1)
    rows["moves"] += [names, *within]
    rows["margins"] += [[float(margins[:, at].mean()) for at in order], *within]
    rows["regret"] += [float(behind.mean()), *within]


def _add_luck(rows: Rows, game: Game) -> None:
    """Add the luck of each deal to the last rows, those of a finished game."""
    luck, sides = luck_of_game(game), game.rules.num_teams
    begin = len(rows["luck"])
    for deal, seat in zip(rows["deal"][begin:], rows["seat"][begin:], strict=True):
        rows["luck"].append(float(luck.luck[luck.deals.index(deal), seat % sides]))
