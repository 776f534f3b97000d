"""Playthroughs: one random game for each kind of rules, written so that a person can read it."""

from __future__ import annotations

import random
import re

import numpy as np

from krypenv import Game, Rules
from krypenv.cards import STOP, action_name, card_names
from krypenv.features import columns_of, shape_of

GAMES = {
    "krypkasino_2": "krypkasino players=2",
    "krypkasino_3": "krypkasino players=3",
    "krypkasino_4_teams": "krypkasino players=4 teams=2",
    "krypkasino_5": "krypkasino players=5",
    "krypkasino_6_teams": "krypkasino players=6 teams=3",
    "six_table": "krypkasino players=2 first_deal=six_table last_capture_points=1",
    "set_aside_spades": "krypkasino players=2 set_aside=spades",
    "howto_3": "howto players=3",
    "howto_house_rules": "howto players=2 forced_sweep=False storan_points=0 packs=1 initial_match_bonus=-5",
    "mini_low": "mini-low players=2",
    "mini_double": "mini-double players=2",
    "mini_high": "mini-high players=3",
    "kasino_sweden_2": "kasino-sweden players=2",
    "kasino_sweden_4_teams": "kasino-sweden players=4 teams=2",
    "overspader_3": "overspader players=3",
    "kasino_finland_2": "kasino-finland players=2",
    "kasino_finland_session_end": "kasino-finland players=2 games=0 threshold=16",
    "laistokasino_2": "laistokasino players=2",
    "laistokasino_session_end": "laistokasino players=2 games=0 threshold=16",
    "mulle_2": "mulle players=2",
    "mulle_3": "mulle players=3",
    "mulle_glimne_2": "mulle-glimne players=2",
    "mulle_glimne_4_teams": "mulle-glimne players=4 teams=2",
    "kasino_finland_building": "kasino-finland players=2 building=True",
    "kasino_misere": "kasino-sweden players=2 goal=low",
    "kasino_maximal": "kasino-sweden players=2 capture=maximal",
}
SPIEL_GAMES = {  # as OpenSpiel plays them
    "mini_sweep": "krypenv(preset=mini-sweep,sorted_deals=True)",
    "mini_high_session": "krypenv(preset=mini-high,rules=games:2)",
    "mini_kasino": "krypenv(preset=mini-kasino)",
}
LOOKS = 4  # decisions whose observation is written out
_CARDS = ("hand", "table", "seen", "set_aside", "pending", "taken")


def playthrough(text: str) -> str:
    """Return the playthrough of a random game, with its record and some observations; of a session its last game."""
    game = Game(Rules.parse(text), seed=1)
    chooser = random.Random(2)  # not numpy's: its streams may change between versions
    looks: list[str] = []
    step = 0
    while not game.session_over:
        if game.is_over:
            game, looks, step = game.next_game(), [], 0
        if step % 9 == 4 and len(looks) < LOOKS:
            looks.append(_look(game, step))
        game.act(chooser.choice(game.legal_actions()))
        step += 1
    return "\n".join([format_playthrough(game), *looks, game.record()]) + "\n"


def _look(game: Game, step: int) -> str:
    """Return what the seat to act sees, part by part, leaving out what is zero."""
    seen = game.observation(features=True)
    lines = [f"Seat {game.turn} before action {step + 1} sees"]
    for name, part in game.rules.layout.items():
        entries = seen[part]
        if entries.any():
            told = " ".join(card_names(entries)) if name in _CARDS else " ".join(map(str, entries))
            lines.append(f"  {name:15} {told}")
    block = seen[game.rules.observation_size :].reshape(shape_of(game.rules))
    for action in game.legal_actions():
        row = block[52 if action == STOP else action % 52]
        facts = ", ".join(
            f"{name} {' '.join(map(str, row[part]))}"
            for name, part in columns_of(game.rules).items()
            if np.any(row[part])
        )
        lines.append(f"  {action_name(action):15} {facts}")
    return "\n".join(lines) + "\n"


def spiel_playthrough(text: str) -> str:
    """Return OpenSpiel's own playthrough of a random game, without the tensors, which nobody can read."""
    from open_spiel.python.algorithms.generate_playthrough import playthrough_lines

    import krypenv.envs.openspiel  # noqa: F401 (it registers the game)

    lines = playthrough_lines(text, seed=1)
    tensor = re.compile(r"(InformationState|Observation)Tensor(\(|Shape|Layout)|^[◯◉ ]+$")
    return "\n".join(line for line in lines if not tensor.search(line)) + "\n"


def format_playthrough(game: Game) -> str:
    """Return a game deal by deal: hands and what each seat has, the moves with what is announced, and the end."""
    lines, twin, deal = [], game.rewound(), 0
    for ply, move in enumerate(game.moves, 1):
        if twin.deal_number != deal:
            deal = twin.deal_number
            lines += [*str(twin).splitlines()[:-1], ""]
        lines.append(f"{ply:4}. seat {twin.turn}  {move}")
        twin.push(move)
        if twin.deal_number == deal and twin.announcement:
            lines[-1] += f'  "{twin.announcement}"'
        if twin.deal_number != deal:
            lines.append("")
    return "\n".join([*lines, "", str(twin)]) + "\n"
