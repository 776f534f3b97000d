"""What hatchling puts into a wheel beside the folder krypenv."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Linked(BuildHookInterface):
    """Puts the folders that are linked into krypenv where the links are; an editable install follows the links."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the folders of a wheel; `version` is "standard" or "editable"."""
        if version == "standard":
            build_data["force_include"] |= {"agents": "krypenv/agents", "training": "krypenv/training"}
