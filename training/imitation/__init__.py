"""A start for the learner: a teacher's decisions, cloned.

lessons  files of decisions
clone    learning from them
teach    `krypenv teach`
"""
