"""What several rooms of training need: settings' fields, processes, folders, progress, tables.

bounds     numbers that are asked for
fields     settings that are command lines
parts      parts that their settings share
machine    what a measured time depends on
folders    folders that one process writes to
processes  workers
progress   what is shown while one waits
report     tables in the terminal
"""
