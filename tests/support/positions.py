"""Engines in the middle of games, agents that act in them, and hands that they may hide."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from krypenv import Engine, Game, Rules, determinize
from krypenv.agents import Agent
from krypenv.cards import TAKE, card_name
from support.games import small_first, stacked


def walk(rules: Rules, seed: int, held: range = range(100)) -> Iterator[Game]:
    """A game at each decision of random play with so many cards in all hands, small cards dealt first or last.

    Where captures are optional much is left on the table, and a position is left out while that is large.
    """
    rng = np.random.default_rng(seed)
    game = Game(rules, deck=map(card_name, small_first(rules, rng)[:: -1 if seed % 2 else 1]))
    while not game.is_over:
        cards = sum(len(game.hand(seat)) for seat in range(rules.players))
        if cards in held and (len(game.table) < 8 or rules.capture == "maximal"):
            yield game
        actions = game.legal_actions()
        game.act(actions[-1] if rules.capture == "optional" and rng.random() < 0.6 else int(rng.choice(actions)))


def played(rules: Rules, games: int = 24, steps: int = 12, features: bool = False) -> Engine:
    """Games some random steps after their beginning."""
    engine = Engine(rules, games, seed=3, features=features)
    for _ in range(steps):
        engine.step(engine.sample_actions())
    return engine


def with_choices(rules: Rules, games: int = 16, features: bool = False) -> Engine:
    """Games with a choice to make at different points, a third of them in the middle of a play if there are such."""
    rng = np.random.default_rng(0)
    engine = stacked(rules, np.array([small_first(rules, rng) for _ in range(64)]))
    taking, playing = [], []
    for _ in range(40):
        has_choice, takes = engine.action_mask.sum(axis=1) > 1, engine.action_mask[:, TAKE:].any(axis=1)
        taking.append(engine.state[has_choice & takes])
        playing.append(engine.state[has_choice & ~takes][:2])
        engine.step(engine.sample_actions())
    middle = np.concatenate(taking)[: games // 3]
    others = np.concatenate(playing)
    chosen = np.linspace(0, len(others) - 1, games - len(middle)).astype(int)
    return Engine.from_state(rules, np.concatenate([middle, others[chosen]]).view(np.recarray), features=features)


def decide(agent: Agent, engine: Engine) -> np.ndarray:
    """What an agent does in all games of an engine; whoever cheats looks at the games."""
    if getattr(agent, "cheats", False):
        return agent.act_on(engine.state.copy(), engine.action_mask)
    return agent.act(engine.observation, engine.action_mask)


def play_whole_games(rules: Rules, agents: list[Agent], games: int = 8, features: bool = False) -> set[int]:
    """Let agents act in turn until so many games have ended; return which actions they chose. All were legal."""
    engine, chosen, ended, step = Engine(rules, games, seed=1, features=features), set(), 0, 0
    while ended < games:
        actions = decide(agents[step % len(agents)], engine)
        assert (engine.action_mask[np.arange(games), actions] == 1).all()
        engine.step(actions)
        chosen |= set(actions.tolist())
        ended, step = ended + int(engine.finished.sum()), step + 1
    return chosen


def hands_of(rules: Rules, state: np.ndarray) -> np.ndarray:
    """The hands of the seats that are not to act, from the next one on, (B, P - 1, 52), in games (B,)."""
    seats = (state["seat"][:, None] + np.arange(1, rules.players)) % rules.players
    return state["hands"][np.arange(len(state))[:, None], seats]


def sampled_hands(rules: Rules, seen: np.ndarray, rng: np.random.Generator, samples: int = 20) -> np.ndarray:
    """Hidden hands, (samples, P - 1, 52), drawn uniformly from those that agree with an observation, (N,)."""
    return hands_of(rules, determinize(np.repeat(seen[None], samples, axis=0), rng, rules))
