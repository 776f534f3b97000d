from .luck.meter import PLAYERS as PLAYERS, Meter as Meter, control_of as control_of
from .matches.duplicate import play_duplicates as play_duplicates
