"""What several tests share: rules to try, games at hand, stacked decks, and recorders of play."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from krypenv import Engine, Game, Rules
from krypenv.agents.neural.network import MAIN, Arrays, Inputs, Shape, specs_of
from krypenv.cards import ACE
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.observing import write_observation
from krypenv.kernels.play import begin_game
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import kernel

RULES = {
    text: Rules.parse(text)
    for text in (
        "krypkasino players=2",
        "krypkasino players=3",
        "krypkasino players=4 teams=2",
        "krypkasino players=5",
        "krypkasino players=6 teams=3",
        "krypkasino players=6 teams=2",
        "krypkasino players=2 first_deal=six_table",
        "krypkasino players=2 last_capture_points=1",
        "krypkasino players=3 set_aside=spades",
        "krypkasino players=3 custom_points=H:1+S:0+A:0+TD:0+QS:13",
        "krypkasino players=2 first_deal=six_table last_capture_points=1 set_aside=spades",
        "howto players=2",
        "howto players=3",
        "howto players=4 teams=2",
        "howto players=2 forced_sweep=False",
        "howto players=2 storan_points=0 packs=1 initial_match_bonus=-5",
        "mini-low players=2",
        "mini-low players=3",
        "mini-double players=2",
        "mini-double players=4 teams=2",
        "mini-high players=2",
        "mini-high players=3",
    )
}

SMALL: dict[str, Any] = {  # settings of a run that trains a little
    "envs": 16, "opponents": ("past", "greedy"), "opponent_share": 0.5, "steps": 4, "batch": 64, "epochs": 1,
    "frames": 640, "curve_deals": 1, "deals": 2, "curve_every": 1e9, "context": 16, "card": 8, "embedding": 4,
    "yardstick": "greedy",
}  # fmt: skip

EACH = {  # of the families, by a short name
    name: Rules.parse(text)
    for name, text in {
        "two": "krypkasino players=2",
        "three": "krypkasino players=3",
        "teams": "krypkasino players=4 teams=2",
        "session": "mini-low games=3 last_capture_points=1",
        "howto": "howto players=3 initial_match_bonus=-5",
        "sweden": "kasino-sweden",
        "overspader": "overspader players=4 teams=2 games=2",
        "finland": "kasino-finland players=3",
        "finland to 5": "kasino-finland games=0 threshold=5",
        "laistokasino": "laistokasino",
        "mulle": "mulle players=4",
        "glimne": "mulle-glimne",
    }.items()
}
every_rules = pytest.mark.parametrize("rules", EACH.values(), ids=EACH)


class Recorder:
    """Plays the legal action with the highest (or lowest) number, and keeps what it was shown."""

    def __init__(self, step: int = -1) -> None:
        self.step = step
        self.seen: list[tuple[np.ndarray, np.ndarray]] = []

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        self.seen.append((observations.copy(), action_masks.copy()))
        return pick(action_masks, self.step)


def pick(masks: np.ndarray, step: int = 1) -> np.ndarray:
    """Return the first legal action of each row, or with step -1 the last."""
    first = masks[:, ::step].argmax(axis=1)
    return first if step == 1 else masks.shape[1] - 1 - first


def lay(table: str, *hands: str, rules: str = "krypkasino players=2", more: str = "captured 1: rest; stock: -") -> Game:
    """Return a game with some table and hands of the first seats; what is named nowhere lies where `more` says."""
    held = "; ".join(f"hand {seat}: {cards or '-'}" for seat, cards in enumerate(hands))
    return Game.from_position(f"rules: {rules}; table: {table or '-'}; {held}; {more}")


def gained(game: Game, *moves: str) -> list[int]:
    """Make some moves, and return what each seat's score changes by."""
    before = game.scores()
    for move in moves:
        game.push(move)
    return [now - then for now, then in zip(game.scores(), before, strict=True)]


def texts(game: Game) -> list[str]:
    """Return the legal moves, as text."""
    return [str(move) for move in game.legal_moves()]


def after(game: Game, *moves: str) -> Game:
    """Return a copy of a game after some moves."""
    twin = game.copy()
    for move in moves:
        twin.push(move)
    return twin


def cut(game: Game, moves: int) -> Game:
    """Return the game after its first moves."""
    return after(game.rewound(), *map(str, game.moves[:moves]))


def best_margin(game: Game, side: int) -> float:
    """Return the margin that a side of two gets by best play of both with open hands, by trying everything."""
    if game.is_over:
        behind = game.scores()[1 - side] - game.scores()[side]
        return behind if game.rules.goal == "low" else -behind
    values = [best_margin(after(game, str(move)), side) for move in game.legal_moves()]
    return max(values) if game.turn == side else min(values)


def some_arrays(shape: Shape, seed: int = 1, inputs: Inputs = MAIN) -> Arrays:
    """Return the weights of a network that was never trained, whose logits are of the order of one."""
    rng = np.random.default_rng(seed)
    arrays = {
        name: (rng.normal(size=sizes) / np.sqrt(sizes[-1])).astype(np.float32)
        for name, sizes in specs_of(shape, inputs).items()
    }
    return {**arrays, "score.weight": 5 * arrays["score.weight"]}


def play_out(game: Game, seed: int = 0) -> Game:
    """Play a game to its end with random actions, and return it."""
    choices = random.Random(seed)
    while not game.is_over:
        game.act(choices.choice(game.legal_actions()))
    return game


@kernel
def _begin(compiled: np.ndarray, state: np.ndarray, scratch: np.ndarray) -> None:
    for row in range(len(state)):
        begin_game(compiled[0], state[row], scratch[0])


@kernel
def _look(compiled: np.ndarray, state: np.ndarray, viewers: np.ndarray, out: np.ndarray) -> None:
    for row in range(len(state)):
        write_observation(compiled[0], state[row], viewers[row], out[row])


def stacked(rules: Rules, decks: np.ndarray, features: bool = False) -> Engine:
    """Return an engine whose rows have been dealt the given decks, (B, D) kinds."""
    engine = Engine(rules, len(decks), seed=0, features=features)
    engine.state.deck[:, : rules.deck_size] = decks
    _begin(engine.compiled, engine._state, borrow_scratch())
    refresh(engine)
    return engine


def refresh(engine: Engine) -> None:
    """Write the outputs of an engine anew, after its state was changed by hand."""
    engine._observe()


def seen_by(engine: Engine, viewers: np.ndarray) -> np.ndarray:
    """Return what the given seats, (B,), to act or not, see of their rows, (B, N) int8."""
    out = np.zeros((engine.num_games, engine.rules.observation_size), np.int8)
    _look(engine.compiled, engine._state, viewers, out)
    return out


def shuffle_hidden(rules: Rules, row: Any, seat: int, rng: np.random.Generator) -> None:
    """Deal all that a seat can't see anew, in place, in one record of a state, whether or not such a game could be."""
    pool = np.repeat(np.arange(52), rules.deck_counts.astype(int) - row["seen"] - row["hands"][seat])
    rng.shuffle(pool)
    for other in set(range(rules.players)) - {seat}:
        hand, pool = np.split(pool, [row["hand_size"][other]])
        row["hands"][other] = np.bincount(hand, minlength=52)
        row["hand_kinds"][other] = sum(1 << int(card) for card in set(hand.tolist()))
    row["deck"][row["next_card"] : rules.deck_size] = pool


def viewers_of(seen: np.ndarray, players: int) -> np.ndarray:
    """Return the seat that sees each observation, (B,), of (B, N), where the last seat deals, as in a drawn world."""
    return players - 1 - seen[:, LAYOUT["dealer"]].argmax(axis=1)


def full_deck(rules: Rules) -> list[int]:
    """Return the deck in the order of kinds."""
    return [int(kind) for kind in np.repeat(np.arange(52), rules.deck_counts)]


def small_first(rules: Rules, rng: np.random.Generator) -> list[int]:
    """Return a shuffled deck with aces and small cards nearer the front: crowded tables, many choices."""
    deck = full_deck(rules)
    return sorted(deck, key=lambda card: (card % 13 + (card % 13 == ACE - 1) * 3) * 0.5 + rng.uniform(0, 8))


def decisions_of(rules: Rules, games: int = 24, steps: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Return the observations and masks before each step of random games."""
    engine, looks = Engine(rules, games, seed=3), []
    for _ in range(steps):
        looks.append((engine.observation.copy(), engine.action_mask.copy()))
        engine.step(engine.sample_actions())
    observations, masks = (np.concatenate(each) for each in zip(*looks, strict=True))
    return observations, masks
