"""Checks of the environments' arguments. They run before anything else, and refuse a wrong value in one sentence."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.families.variants import Family, family_of
from krypenv.inputs.words import check_keywords, check_name, is_whole, listed, one_line, shown
from krypenv.rules import FIELDS, Rules, as_rules

MOST_GAMES = 1_000_000  # games at once: 2 GB
LONGEST = 600  # characters of a message about rules


def chosen_rules(
    call: str, parameters: Iterable[str], family: Family, rules: Any, variant: Any, fields: dict[str, Any], **more: Any
) -> Rules:
    """Return the rules that an environment's arguments ask for: complete rules, or a variant with some fields changed.

    Args:
        call: the environment's name in messages.
        parameters: its own parameters; with the fields of `Rules` they are the known keywords.
        family: the games that it plays.
        rules: complete rules, as `krypenv.rules.as_rules` takes them, or None.
        variant: the name of a variant of the family, or None for the first one.
        fields: keywords that are fields of the rules.
        more: fields that have a parameter of their own; None if not given.

    Raises TypeError for an unknown keyword. Raises ValueError, in one short sentence, for a wrong value, for rules of
    another family, and if both complete rules and single fields are given.
    """
    own = [name for name in parameters if name not in ("self", "rule_fields")]
    check_keywords(call, fields, [*own, *(name for name in FIELDS if name not in own)])
    more = {name: value for name, value in more.items() if value is not None}
    if rules is not None:
        also = [] if variant is None else ["variant"]
        also += [name for name, value in {**more, **fields}.items() if value is not None]
        if also:
            raise ValueError(f"rules=Rules(...) are complete rules; give either them or {listed(also)}, not both")
        return _check_family(as_rules(rules), family)
    variant = family.default if variant is None else variant
    check_name("variant", variant, family.variants, f" of {family.module}")
    try:
        return Rules.preset(family.variants[variant], **more, **fields)
    except ValueError as error:
        raise ValueError(one_line(str(error), LONGEST)) from None


def _check_family(rules: Rules, family: Family) -> Rules:
    """Return rules; raise ValueError if they change a preset of another family."""
    home = family_of(rules.name)
    if home is not family:
        raise ValueError(
            f"{family.module} plays rules made from {', '.join(family.variants.values())}; those made from "
            f"{rules.name} are for {home.module}"
        )
    return rules


def check_seeds(seed: Any) -> npt.NDArray[np.uint64]:
    """Return a seed, or a sequence of seeds, as an array of uint64; raise ValueError unless they are whole numbers."""
    try:
        seeds = np.asarray(seed)
        if seeds.dtype.kind in "iu" and not (seeds < 0).any():
            return seeds.astype(np.uint64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"a seed is a whole number from 0 to 2**64 - 1, or a sequence of them, not {shown(seed)}")


def check_switch(name: str, value: object) -> None:
    """Raise ValueError unless an argument is True or False (or 1 or 0)."""
    if not isinstance(value, (bool, np.bool_, int)) or value not in (0, 1):
        raise ValueError(f"{name} is True or False, not {shown(value)}")


def check_seed(seed: Any) -> int:
    """Return the seed of one game as an int; raise ValueError unless it is a whole number from 0 to 2**64 - 1."""
    seeds = check_seeds(seed)
    if seeds.ndim:
        raise ValueError(f"the seed of one game is a whole number, not {shown(seed)}")
    return int(seeds)


def check_options(options: Any) -> dict[str, Any]:
    """Return the options of a reset as a dict; raise ValueError unless they are a dict or None."""
    if not isinstance(options, (dict, type(None))):
        raise ValueError(f"options are a dict or None, not {shown(options)}")
    return options or {}


def check_action(action: Any, num_actions: int) -> int:
    """Return an action as an int; raise ValueError unless it is a whole number below that of the actions."""
    number = action.item() if isinstance(action, np.ndarray) and action.size == 1 else action
    if not is_whole(number, 0, num_actions - 1):
        raise ValueError(f"an action is a whole number from 0 to {num_actions - 1}, not {shown(action)}")
    return operator.index(number)
