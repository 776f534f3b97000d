"""The command `serve`: a game in words for OpenEnv's clients, which train language models."""

from __future__ import annotations

from typing import ClassVar

import typer

from krypenv.training.settings.base import AgentName, option, output
from krypenv.training.settings.groups import AGENTS, GameSettings


class ServeSettings(GameSettings):
    """The settings of `krypenv serve`. A client may choose all but the server's own in each episode."""

    command: ClassVar[str] = "serve"

    unseen: bool = option(False, "draw other rules for each episode, which no model has seen", decides=False)
    seat: int = option(0, "the learner's seat", AGENTS, ge=0, le=5)
    against: tuple[AgentName, ...] = option(
        ("greedy",), "an opponent; of several, one is drawn for each seat", AGENTS, metavar="AGENT"
    )
    reward: str = option("centred", "centred, points, win, adjusted (luck taken out) or regret (of each move)", AGENTS)
    judge: AgentName = option("search(worlds=30)", "the agent that values moves for regret", AGENTS)
    listed: bool = option(True, "list the legal moves", AGENTS)
    tries: int = option(3, "replies without a legal move that end an episode", AGENTS, ge=1, le=100)
    host: str = output("127.0.0.1", "address to serve at; 0.0.0.0 lets other machines in")
    port: int = output(8000, "port to serve at", ge=1, le=65535)
    sessions: int = output(64, "sessions at the same time", ge=1, le=4096)


def serve_command(settings: ServeSettings) -> None:
    """Serve a seat of a game to OpenEnv's clients: a language model plays it by text, against agents."""
    import uvicorn

    from krypenv.adapters.openenv import make_app
    from krypenv.envs.text_game import UNSEEN, Terms

    terms = Terms(
        UNSEEN if settings.unseen else settings.game_rules(),
        opponents=settings.against,
        **settings.model_dump(include={"seat", "listed", "tries", "reward", "judge"}),
    )
    typer.echo("Compiling; the first start takes a minute or two.")
    app = make_app(terms, settings.sessions)
    typer.echo(f"OpenEnv's clients connect to http://{settings.host}:{settings.port} (Ctrl-C ends it).")
    uvicorn.run(app, host=settings.host, port=settings.port, log_level="warning")
