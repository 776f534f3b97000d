"""Self-play: from settings to a trained model.

settings           the settings of a run
selfplay           a run
rehearsal          compiling before its clock starts
checkpoint         its state on disk
league             who plays against the learner
metagame           its snapshots against each other
curve              its learning curve, as a picture
model_card         how its model was made and how strong it is
"""
