"""Luck: the margin of a side, and how much of it was the cards, in a sentence."""

from __future__ import annotations

from krypenv.ui.narrator.texts import say

TIED = 0.05  # points; margins of more than two sides are fractions


def tell_luck(
    margin: float,
    luck: float,
    name: str = "You",
    whom: str = "you",
    sides: int = 2,
    is_over: bool = True,
    language: str = "en",
) -> str:
    """Tell the margin of a side, and how much of it was the cards, in whole points.

    Args:
        margin: points by which the side is ahead of the mean of the others.
        luck: points that the cards brought it.
        name: what the side is called at the beginning of the sentence.
        whom: the same as a pronoun: you, it or them.
        sides: the number of sides; of more than two none loses by a margin, but all end ahead of the others or behind.
        is_over: whether the game is over.
        language: that of the name and the sentence.

    >>> tell_luck(-12, -15)
    'You lost by 12; the cards cost you 15.'
    >>> tell_luck(12, -5, "Seat 1", "it")
    'Seat 1 won by 12, though the cards cost it 5.'
    """
    size, cards = f"{abs(margin):.1f}".removesuffix(".0"), round(abs(luck))
    is_tied, verb = abs(margin) < TIED, "gave" if luck > 0 else "cost"
    result = _result(margin, sides, is_over)
    points = say(language, "points.count", 1 if size == "1" else 2, points=size)
    said = say(language, f"luck.{result}", name=name, size=size, points=points)
    if cards == 0:
        how = "even"
    elif is_tied or (margin > 0) != (luck > 0):
        how = f"though_{verb}"
    elif size == str(cards):
        how = "all"
    elif abs(margin) < 2 or cards > abs(margin):  # "15 of them" would be odd of 12
        how = verb
    else:
        how = "some"
    return say(language, f"luck.{how}", cards, said=said, whom=whom, cards=cards)


def _result(margin: float, sides: int, is_over: bool) -> str:
    """Name the result that a margin is."""
    is_tied, is_ahead = abs(margin) < TIED, margin > 0
    if sides > 2:
        return f"{'ended' if is_over else 'stood'}_{'level' if is_tied else 'ahead' if is_ahead else 'behind'}"
    if is_over:
        return "tied" if is_tied else "won" if is_ahead else "lost"
    return "level" if is_tied else "led" if is_ahead else "trailed"
