"""Agents: functions from what one seat may see to an action; imported as `krypenv.agents`."""

if __name__ != "krypenv.agents":
    raise ImportError(f"this package is krypenv.agents, not {__name__}: import it under its full name")
