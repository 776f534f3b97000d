"""The rules on sheets, as the table tells them: Krypkasino, in English and Swedish, and the other games."""

from __future__ import annotations

from krypenv import Rules
from krypenv.ui.narrator.narrator import Narrator

PICTURED = {2: "capture", 3: "sweep"}  # by the number of a section
HEADS = {
    "en": ("More players", ["players", "first hands", "first table", "later hands", "deals"], "In Swedish", "regler"),
    "sv": ("Fler spelare", ["spelare", "först på hand", "på bordet", "sedan", "givar"], "In English", "sheet"),
}
SESSIONS = {"kasino-sweden": 16, "overspader": 21, "kasino-finland": 16, "laistokasino": 16}  # to how many points
TEXTS = {"capture": "8♠ → 8♦, 5♣ + 2♥ + A♠", "sweep": "Q♦ → 10♠ + 2♦, 7♠ + 5♥"}


def sheet_pages() -> dict[str, str]:
    """Return the pages by name."""
    return {
        "sheet": _sheet("en", "The rules on a sheet"),
        "regler": _sheet("sv", "Krypkasino: reglerna"),
        "relatives": _relatives(),
    }


def _sheet(language: str, title: str) -> str:
    narrator = Narrator(Rules.preset("krypkasino"), language=language)
    more, columns, other, page = HEADS[language]
    parts = [f"# {title}", f"[{other}]({page}.md)"]
    for number, (heading, paragraphs) in enumerate(narrator.in_full()):
        parts.append(f"## {heading}")
        if picture := PICTURED.get(number):
            parts.append(f"![{TEXTS[picture]}](pictures/{picture}.svg)")
        parts += paragraphs
    rows = [_row(columns), _row(["---"] * len(columns))]
    for players in range(2, 7):
        (hands, table), (later, _), *rest = Rules.preset("krypkasino", players=players).deal_sizes()
        rows.append(_row([players, hands[0], table, later[0], 2 + len(rest)]))
    return "\n\n".join([*parts, f"## {more}", "\n".join(rows), ""])


def _relatives() -> str:
    parts = ["# The other games", "What differs from Krypkasino, [in short](rules.md#the-relatives)."]
    presets = [name for name in Rules.presets() if name != "krypkasino" and not name.startswith("mini-")]
    for preset in presets:
        session = {"games": 0, "threshold": SESSIONS[preset]} if preset in SESSIONS else {}
        narrator = Narrator(Rules.preset(preset, **session))
        parts += [f"## {narrator.title}", f"Preset `{preset}`."]
        for heading, paragraphs in narrator.in_full():
            parts += [f"### {heading}", *paragraphs]
    return "\n\n".join([*parts, ""])


def _row(cells: list[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"
