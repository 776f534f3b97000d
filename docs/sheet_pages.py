"""The rules on sheets, as the table tells them: Krypkasino, in English and Swedish, and its relatives."""

from __future__ import annotations

from krypenv import Rules
from krypenv.ui.narrator.narrator import Narrator

PICTURED = {2: "capture", 3: "sweep"}  # by the number of a section
HEADS = {
    "en": ("More players", ["players", "first hands", "first table", "later hands", "deals"], "In Swedish", "regler"),
    "sv": ("Fler spelare", ["spelare", "först på hand", "på bordet", "sedan", "givar"], "In English", "sheet"),
}
RELATIVES = {  # by preset: the heading, and the points of a usual session
    "kasino-sweden": ("Kasino in Sweden", 16),
    "overspader": ("Överspader", 21),
    "kasino-finland": ("Kasino in Finland", 16),
    "laistokasino": ("Laistokasino", 16),
    "mulle": ("Mulle", None),
    "mulle-glimne": ("Mulle after Glimne", None),
}
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
    parts = ["# The relatives", "What differs from Krypkasino is [told in short](rules.md#the-relatives), too."]
    for preset, (title, points) in RELATIVES.items():
        session = {"games": 0, "threshold": points} if points else {}
        parts += [f"## {title}", f"Preset `{preset}`."]
        for heading, paragraphs in Narrator(Rules.preset(preset, **session)).in_full():
            parts += [f"### {heading}", *paragraphs]
    return "\n\n".join([*parts, ""])


def _row(cells: list[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"
