from .luck.meter import PLAYERS as PLAYERS, control_of as control_of
from .matches.duplicate import play_duplicates as play_duplicates
