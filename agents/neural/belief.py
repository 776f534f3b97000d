"""Belief, as kernels: how likely the opponent of a two-player game would have played as it did with a given hand."""

from __future__ import annotations

import numpy as np

from krypenv.agents.judgement.decision import read_public
from krypenv.agents.neural.inference import Weights, score_legal
from krypenv.agents.neural.recall import MOST_ACTIONS, MOST_STEPS, Memory
from krypenv.agents.scripted import list_bits
from krypenv.agents.search.sampling import complete
from krypenv.cards import NUM_KINDS
from krypenv.kernels.observing import write_observation
from krypenv.kernels.play import act, allow_plays
from krypenv.runtime.jit import kernel
from krypenv.state import GAME, is_legal

# The opponent need not play like the network: assume a uniformly random legal card with this probability.
MIX = 0.05

BELIEF = np.dtype(
    [
        ("count", np.int64),  # plays of the opponent that are known
        ("first", np.int64),  # number of the first world that is weighted by them
        ("games", GAME, (MOST_STEPS,)),  # the position of each play, with any hand
        ("since", np.int64, (MOST_STEPS, NUM_KINDS)),  # cards that the opponent has played from there on
        ("cards", np.int64, (MOST_STEPS,)),  # the first of these
    ],
    align=True,
)


@kernel
def remember(
    compiled: np.record, memory: Memory, row: int, belief: np.record, worlds: np.record, scratch: np.record
) -> None:
    """Set up the positions in which the opponent had to play, as far as they are remembered."""
    belief.count = 0
    for step in range(MOST_STEPS):
        seen, card = memory.seen[row, step], np.int64(memory.cards[row, step])
        if card < 0:
            return
        count = belief.count
        belief.games[count] = worlds.blank
        game = belief.games[count]
        read_public(compiled, seen, game, scratch)
        if not complete(compiled, seen, np.uint64(1), True, game, worlds, scratch):
            continue
        seat = game.seat
        fits = True
        for at in range(MOST_ACTIONS):
            action = np.int64(memory.actions[row, step, at])
            if action >= 0 and fits:
                fits = game.seat == seat and is_legal(game, action)
                if fits:
                    act(compiled, game, action, scratch)
        if not fits or game.over or game.seat == seat:
            continue
        belief.cards[count] = card
        for kind in range(NUM_KINDS):
            belief.since[count, kind] = 0
        for earlier in range(count + 1):
            belief.since[earlier, card] += 1
        belief.count = count + 1


@kernel
def log_likelihood(
    compiled: np.record,
    weights: Weights,
    temperature: float,
    world: np.record,
    belief: np.record,
    network_scratch: np.record,
    scratch: np.record,
) -> float:
    """Return the log likelihood of the opponent's plays, if the network had made them with its hand in a world.

    The plays are sampled from the softmax of logits / `temperature`, or uniformly with probability `MIX`.
    """
    total = 0.0
    for step in range(belief.count):
        game = belief.games[step]
        seat, card = game.seat, belief.cards[step]
        game.hand_kinds[seat] = 0
        game.hand_size[seat] = 0
        for kind in range(NUM_KINDS):
            copies = world.hands[seat, kind] + belief.since[step, kind]
            game.hands[seat, kind] = copies
            game.hand_size[seat] += copies
            if copies > 0:
                game.hand_kinds[seat] |= np.int64(1) << kind
        allow_plays(compiled, game, np.int64(game.sweep_values))
        if game.legal_plays >> card & 1 == 0:
            return -np.inf
        count = list_bits(np.int64(game.legal_plays), 0, 0, network_scratch.legal)
        if count == 1:
            continue
        write_observation(compiled, game, seat, network_scratch.seen)
        best = network_scratch.logits[
            score_legal(compiled, weights, network_scratch.seen, count, network_scratch, scratch)
        ]
        total_weight, own = 0.0, 0.0
        for at in range(count):
            weight = np.exp((network_scratch.logits[at] - best) / temperature)
            total_weight += weight
            if network_scratch.legal[at] == card:
                own = weight
        total += np.log((1 - MIX) * own / total_weight + MIX / count)
    return total


@kernel
def resample_systematically(logs: np.ndarray, proposals: int, worlds: int, shares: np.ndarray) -> None:
    """Write how often each proposal is drawn into `shares`, (proposals,) int64 that sum to `worlds`.

    Systematic resampling by the weights exp(`logs`). If no proposal is possible, each of the first `worlds` is drawn
    once.
    """
    best = logs[0]
    for at in range(proposals):
        best = max(best, logs[at])
    total = 0.0
    for at in range(proposals):
        shares[at] = at < worlds
        total += np.exp(logs[at] - best) if best > -np.inf else 0.0
    if total == 0.0:
        return
    step, passed, drawn, last = total / worlds, 0.0, 0, 0
    for at in range(proposals):
        weight = np.exp(logs[at] - best)
        passed += weight
        shares[at] = 0
        if weight > 0:
            last = at
        while drawn < worlds and (drawn + 0.5) * step < passed:
            shares[at] += 1
            drawn += 1
    shares[last] += worlds - drawn
