"""What several rooms of training need: settings' fields, processes, folders, progress, tables.

bounds     numbers that are asked for
fields     rules that are asked for
machine   what a measured time depends on
folders    folders that one process writes to
processes  workers
progress   what is shown while one waits
report     tables in the terminal
"""
