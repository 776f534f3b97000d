"""Many tables at once: what memory they take, and how long a click waits. It is no test, and not part of CI.

Each table is a `krypenv table` of its own with a thinking agent, and a client that plays whatever comes first:

    PYTHONPATH=tests .venv/bin/python -m tools.tables_load --tables 20 --seconds 60

A click's latency is the time from sending a move to the view that has it. Memory is the proportional set size (PSS), so
pages that processes share count once; Linux tells it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from websockets.asyncio.client import connect

ROOT = Path(__file__).parents[2]
AIM = 100  # milliseconds, of the 95th percentile
PAUSE = 1.5  # seconds that a quick person takes for a move
READY = 600  # seconds that a table has to get ready


class Client:
    """A page at a table, without a browser."""

    def __init__(self, address: str) -> None:
        self._address, self.latencies = address, list[float]()
        self.moves = 0
        self.is_ready = asyncio.Event()

    async def play(self, begun: asyncio.Event) -> None:
        """Play for ever, once all have begun: the first move of each turn, and a new game at each end."""
        socket = self._address.replace("http", "ws") + "socket"
        async with connect(socket, origin=self._address.rstrip("/")) as page:
            await page.send(json.dumps({"do": "sit", "key": ""}))
            told = await self._told(page)
            while not told["ready"]:
                told = await self._told(page)
            self.is_ready.set()
            await begun.wait()
            await page.send(self._request(told, "pace", pace="fast"))
            while True:
                view = told["view"]
                if view["over"]:
                    await page.send(self._request(told, "new"))
                    told = await self._until(page, told)
                elif view["turn"] == view["seat"]:
                    start = time.perf_counter()
                    await page.send(self._request(told, "play", move=view["moves"][0]["move"]))
                    told = await self._until(page, told)
                    self.latencies.append(time.perf_counter() - start)
                    await asyncio.sleep(PAUSE * random.uniform(0.5, 1.5))
                else:
                    told = await self._told(page)

    async def _until(self, page: Any, before: dict) -> dict:
        told = await self._told(page)
        while told["edit"] == before["edit"]:
            told = await self._told(page)
        return told

    async def _told(self, page: Any) -> dict:
        told = json.loads(await page.recv())
        self.moves = told.get("moves", 0)
        return told

    @staticmethod
    def _request(told: dict, do: str, **more: str) -> str:
        return json.dumps({"do": do, "edit": told["edit"], **more})


async def address_of(server: asyncio.subprocess.Process) -> str:
    """Return the address that a server prints."""
    assert server.stdout
    found = re.search(rb"http://[\d.:]+/", await server.stdout.readline())
    assert found, "no address"
    return found[0].decode()


def memory(number: int) -> float:
    """Return the megabytes of a process and of those that it has started."""
    total = 0.0
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        told = Path(f"/proc/{number}/smaps_rollup").read_text()
        total += int(re.search(r"^Pss: +(\d+)", told, re.M)[1]) / 1024  # type: ignore[index]
        for thread in Path(f"/proc/{number}/task").iterdir():
            total += sum(map(memory, map(int, (thread / "children").read_text().split())))
    return total


async def run(tables: int, seconds: float, rules: str, agent: str) -> None:
    """Play at some tables, and print what was measured."""
    with tempfile.TemporaryDirectory() as top:
        servers, clients, playing = [], [], []
        begun = asyncio.Event()
        try:
            for number in range(tables):
                folder = Path(top, str(number))
                folder.mkdir()
                words = ["table", "--rules", rules, "--against", agent, "--hint", agent, "--port", "0", "--no-open"]
                servers.append(
                    await asyncio.create_subprocess_exec(
                        sys.executable, "-m", "krypenv", *words, cwd=folder, stdout=asyncio.subprocess.PIPE,
                        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
                    )
                )  # fmt: skip
            for server in servers:
                clients.append(Client(await address_of(server)))
                playing.append(asyncio.create_task(clients[-1].play(begun)))
            ready = asyncio.gather(*(client.is_ready.wait() for client in clients))
            await asyncio.wait_for(ready, READY)
            begun.set()
            done, _ = await asyncio.wait(playing, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
            used = [memory(server.pid) for server in servers]
        finally:
            for task in playing:
                task.cancel()
            for server in servers:
                server.kill()
                await server.wait()
    latencies = 1000 * np.array([each for client in clients for each in client.latencies])
    half, most, longest = np.percentile(latencies, [50, 95, 100])
    print(f"{tables} tables of {rules} against {agent}: {len(latencies)} clicks in {seconds:g} s")
    print(f"latency: median {half:.0f} ms, 95th percentile {most:.0f} ms (aim: {AIM} ms), longest {longest:.0f} ms")
    print(f"memory: {sum(used):.0f} MB, {np.mean(used):.0f} MB a table with its agents")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def main() -> None:
    """Read the command line, and play."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rules", default="krypkasino")
    parser.add_argument("--agent", default="champion")
    given = parser.parse_args()
    asyncio.run(run(given.tables, given.seconds, given.rules, given.agent))


if __name__ == "__main__":
    main()
