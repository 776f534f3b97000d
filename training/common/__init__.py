"""What several packages of training share.

bounds     bounds of all numbers that a user can give
fields     settings that are command lines
parts      parts that several settings share
panels     panels of the help pages
ladder     the agents around a learner
machine    the machine and versions of a measurement
folders    folders with a single writing process
progress   progress of long runs
margins    margins and their intervals as text
report     tables in the terminal, and JSON files
"""
