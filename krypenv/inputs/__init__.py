"""What comes from outside, read and checked: every fault is one sentence.

words   words and numbers that people type, and how they stand in a sentence
files   files, written whole or not at all
schema  what plain values from a file are to be
"""
