"""The narrator: all that it can tell, for one seat at a table."""

from __future__ import annotations

from krypenv.ui.narrator import events, options, refusals, rules_text, score_sheet
from krypenv.ui.narrator.words import Words


class Narrator(Words):
    """Turns rules, plays, refusals and scores into sentences, and tells nothing that its seat may not know.

    It holds no rules: `Game` and `Rules` have the facts. Each method is a function of this room. See `Words` for the
    arguments.

    >>> from krypenv import Game
    >>> from krypenv.game.moves import Move
    >>> game = Game.from_position("rules: krypkasino; hand 0: 8S 9D; hand 1: 4C KD; table: 2H 6D; captured 1: rest")
    >>> Narrator(game.rules, seat=0).why(game, Move("9D"))
    'You must sweep: play 8♠.'
    """

    title = property(rules_text.title_of)
    table_title = property(rules_text.table_title_of)
    lines, in_full = rules_text.five_lines, rules_text.in_full

    place, deal, play = events.tell_place, events.tell_deal, events.tell_play
    announcement, why, why_card = refusals.tell_announcement, refusals.why, refusals.why_card
    choice, advice = options.tell_choice, options.tell_advice

    account, sheet, sheet_lines = score_sheet.tell_account, score_sheet.sheet_of, score_sheet.lines_of
    result = score_sheet.tell_result
