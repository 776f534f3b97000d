#!/bin/sh
# The trainings of the experiments in training.md.
# training.csv has the commands that measured them. The options are those of commits 40b3855 and cbea205.

# Expert iteration: three runs, the first of three rounds, and self-play without a teacher.
krypenv imitate --teacher champion --games 10000 --temperature 0.5 --set target_temperature=1 --init-from krypenv/agents/models/two --seed 1 --out runs/expert-1
krypenv train --preset strong --init-from runs/expert-1 --frames 5000000 --set learning_rate=0.0003 --seed 1 --out runs/selfplay-1
krypenv imitate --teacher "guided(model='runs/selfplay-1/model', proposals=4)" --games 5000 --temperature 0.5 --set target_temperature=1 --init-from runs/selfplay-1/model --seed 2 --out runs/expert-2
krypenv train --preset strong --init-from runs/expert-2 --frames 5000000 --set learning_rate=0.0003 --seed 2 --out runs/selfplay-2
krypenv imitate --teacher "guided(model='runs/selfplay-2/model', proposals=4)" --games 5000 --temperature 0.5 --set target_temperature=1 --init-from runs/selfplay-2/model --seed 3 --out runs/expert-3
krypenv train --preset strong --init-from runs/expert-3 --frames 5000000 --set learning_rate=0.0003 --seed 3 --out runs/selfplay-3
krypenv imitate --teacher champion --games 10000 --temperature 0.5 --set target_temperature=1 --init-from krypenv/agents/models/two --seed 4 --out runs/expert-4
krypenv train --preset strong --init-from runs/expert-4 --frames 5000000 --set learning_rate=0.0003 --seed 4 --out runs/selfplay-4
krypenv imitate --teacher "guided(model='runs/selfplay-4/model', proposals=4)" --games 5000 --temperature 0.5 --set target_temperature=1 --init-from runs/selfplay-4/model --seed 5 --out runs/expert-5
krypenv train --preset strong --init-from runs/expert-5 --frames 5000000 --set learning_rate=0.0003 --seed 5 --out runs/selfplay-5
krypenv imitate --teacher champion --games 10000 --temperature 0.5 --set target_temperature=1 --init-from krypenv/agents/models/two --seed 6 --out runs/expert-6
krypenv train --preset strong --init-from runs/expert-6 --frames 5000000 --set learning_rate=0.0003 --seed 6 --out runs/selfplay-6
krypenv imitate --teacher "guided(model='runs/selfplay-6/model', proposals=4)" --games 5000 --temperature 0.5 --set target_temperature=1 --init-from runs/selfplay-6/model --seed 7 --out runs/expert-7
krypenv train --preset strong --init-from runs/expert-7 --frames 5000000 --set learning_rate=0.0003 --seed 7 --out runs/selfplay-7
krypenv train --preset strong --init-from krypenv/agents/models/two --frames 5000000 --set learning_rate=0.0003 --seed 1 --out runs/selfplay-only

# One network for all tables.
krypenv imitate --teacher 'champion(worlds=30)' --also 'krypkasino players=3' --also 'krypkasino players=4' --also 'krypkasino players=5' --also 'krypkasino players=6' --also 'krypkasino players=4 teams=2' \
    --also 'krypkasino players=6 teams=2' --also 'krypkasino players=6 teams=3' --games 12000 --temperature 0.5 \
    --set target_temperature=1 --init-from krypenv/agents/models/tables --seed 1 --out runs/family-1
krypenv train --preset strong --init-from runs/family-1 --also 'krypkasino players=3' --also 'krypkasino players=4' --also 'krypkasino players=5' --also 'krypkasino players=6' --also 'krypkasino players=4 teams=2' \
    --also 'krypkasino players=6 teams=2' --also 'krypkasino players=6 teams=3' \
    --frames 10000000 --set learning_rate=0.0003 --set metagame_deals=40 --set curve_every=600 --against 'tactician(shed=True)' --seed 1 --out runs/family-2

# Self-play with and without imitation and a league, at commit 1d9c51a: seed 1 of three.
krypenv train --frames 3_080_192 --seed 1 --workers 1 --set curve_every=1e9
krypenv train --frames 4_145_152 --seed 1 --demonstrations 0 --set opponent_envs=0 --set envs=512 --set curve_every=1e9
