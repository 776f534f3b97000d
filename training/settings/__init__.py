"""Settings of commands: typed models with bounds, whose fields are the options of the command line.

base     a settings class, its options, and one sentence for what is wrong
groups   settings that several commands share, and their panels in `--help`
bridge   the command line of a settings class
console  commands as typer runs them, and one sentence for an error
"""
