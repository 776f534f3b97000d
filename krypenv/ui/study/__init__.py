"""Games that are over, told step by step with all hands open, for who wants to learn from them.

steps      a game step by step, and a decision with the values of its moves, in words
challenge  the same cards played by an agent, beside a person's game
"""
