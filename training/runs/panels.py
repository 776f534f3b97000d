"""Titles of the panels into which `--help` groups the options of a command, in the order of the page."""

from __future__ import annotations

RULES = "Rules"
AGENTS = "Agents"
LENGTH = "Length and size"
MEASURED = "What to measure"
DEALS = "Deals"
START = "Initial weights"
DEMONSTRATIONS = "Demonstrations"
CLONING = "Behaviour cloning"
OPPONENTS = "Opponents"
PPO = "PPO"
REWARDS = "Rewards"
TUNED = "Hyperparameters"
NETWORK = "Network"
SEARCHES = "Policy-aware search"
RECORDS = "Checkpoints and curve"
EVALUATION = "Evaluation"
GAME_RECORDS = "Game records"
RAY = "Ray"
INPUT = "Input"
OUTPUT = "Output"
HELP = "Help"
ORDER = (
    RULES, AGENTS, MEASURED, LENGTH, DEALS, START, DEMONSTRATIONS, CLONING, OPPONENTS, PPO, REWARDS, NETWORK,
    TUNED, SEARCHES, RECORDS, EVALUATION, GAME_RECORDS, RAY, INPUT, OUTPUT, HELP,
)  # fmt: skip
