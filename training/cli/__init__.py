"""The command `krypenv`; its commands are in `people`, `research` and `upkeep`.

commands     the table of commands; each has a module with its function `run`, imported when it is called
outputs      checks of output files, and input texts
saved_games  files of games that people play
"""
