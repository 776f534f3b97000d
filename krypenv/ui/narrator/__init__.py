"""One narrator for people: it turns rules, plays, refusals and scores into sentences, and holds no rules of its own.

english     the texts in English
swedish     the texts in Swedish
words       a language, and the small words of its sentences: cards, lists, names
facts       which cards count alike, and what adds up to a value
what        what a game is, in five lines and in full
examples    small positions in which the engine plays what the rules say
happened    a play, as one seat sees it
choice      a move that may be chosen, and what it brings at once
why_not     why a move can't be made, or what it would do
came_to     every point by its source, and who won
luck        how much of a result was the cards
narrator    all of these for one seat
"""
