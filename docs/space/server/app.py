"""The web application of the Space: a seat of Krypkasino for OpenEnv's clients."""

import uvicorn

from krypenv.adapters.openenv import make_app
from krypenv.envs.text_game import Terms

app = make_app(Terms(opponents=("greedy", "tactician")))


def main() -> None:
    """Serve at port 8000, where a Space expects it."""
    uvicorn.run(app, host="0.0.0.0", port=8000)


if __name__ == "__main__":
    main()
