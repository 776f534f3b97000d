from .policy import PolicyFunction as PolicyFunction
