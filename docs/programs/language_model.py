"""Seats a language model: it reads the game as text, and names one of the moves that are listed.

    krypenv rules krypkasino --full > rules.txt
    krypenv play --against "process(command='python language_model.py rules.txt', seconds=120)"

Fill in `ask` with the client of your model. As it stands, it takes the first move of the list.
"""

import json
import sys
from pathlib import Path

TRIES = 3


def ask(text):
    """Return what the model answers to a text: put a call of your client here."""
    return text.rpartition("Your legal moves:")[2].split()[0]


def choose(decision, rules):
    """Return the move that the model names, or None if it names none of those listed."""
    moves = {move.rstrip("#"): move for move in decision["moves"]}  # the # of a sweep may be left out
    text = f"{rules}\n{decision['text']}\n\nYour legal moves: {' '.join(moves)}\nAnswer with one of them."
    for _ in range(TRIES):
        reply = ask(text)
        named = [word for word in (word.strip(".,:;!*`'\"#") for word in reply.split()) if word in moves]
        if named:
            return moves[named[-1]]
        text += (
            f"\n\nYou answered: {reply}\nThat is none of the legal moves. Answer with one of them, and nothing else."
        )
    return None


def main():
    """Answer line by line, until there are no more."""
    rules = "".join(Path(name).read_text(encoding="utf-8") for name in sys.argv[1:])
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever a client prints is no answer
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            answer = {"name": "language model"}
        elif message["type"] == "decide":
            move = choose(message, rules)
            said = {"move": move} if move else {"error": f"the model named no legal move in {TRIES} answers"}
            answer = {"id": message["id"], **said}
        else:
            break
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
