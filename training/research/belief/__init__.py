"""What an agent's belief knows about hidden hands, and what seeing them would be worth.

hidden_hands  the hands that are possible
gains         what a belief gains on the true hands, and how well it is calibrated
measuring     games against each opponent, and their answer
sight         a study of who sees some of the cards
"""
