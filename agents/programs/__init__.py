"""Programs as players: any program that speaks the protocol of docs/programs.md, in lines of JSON over a pipe.

peer      a program that was started, and lines that it is asked and answers
messages  what it is told, and the checks of its answers
player    the agent that asks it
"""
