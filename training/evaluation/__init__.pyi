from .luck.control import PLAYERS as PLAYERS, control_of as control_of
from .luck.meter import Meter as Meter
from .matches.duplicate import play_duplicates as play_duplicates
