"""What agents choose and what features say, before and after their code is rebuilt. Not part of CI: it takes an hour.

Makes digests of the choices of each agent, and of the bytes of the features, over at least 2,000 decisions of every
rule set. Write them in the checkout before the change, and compare in the one after it: every pair that differs is
named. The work is a run, so a command resumes; each state of the code needs a folder of its own.

    PYTHONPATH=tests .venv/bin/python -m tools.freeze --out runs/before --only mulle --write ../frozen.json
    PYTHONPATH=tests .venv/bin/python -m tools.freeze --out runs/after --only mulle --compare ../frozen.json

`--sample` writes the small sample anew that the tests compare.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from support.frozen import AGENTS, DECISIONS, FEATURES, SAMPLE, difference, digests, rule_sets, sample_digests, samples

from krypenv.inputs.files import write_whole
from krypenv.training.runs.executors import Executor
from krypenv.training.runs.journal import Header
from krypenv.training.runs.tasks import Task, open_run


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare what agents choose, and features, with what is frozen.")
    parser.add_argument("--out", type=Path, help="folder of the run")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="rule sets or agents whose text contains this")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, help="the file to write the digests to")
    what.add_argument("--compare", type=Path, help="a file of digests, to compare with")
    what.add_argument("--sample", action="store_true", help="write the sample that the tests compare")
    given = parser.parse_args()
    if given.sample:
        lines = [f"{json.dumps(text)}: {json.dumps(sample_digests(text))}" for text in samples()]
        write_whole(SAMPLE, ("{\n" + ",\n".join(lines) + "\n}\n").encode())
        return
    if given.out is None:
        parser.error("--out is needed, the folder of the run")
    tasks = [
        Task(f"{text} | {name}", digests, {"text": text, "name": name})
        for text in rule_sets()
        for name in (*AGENTS, FEATURES)
        if given.only in f"{text} | {name}"
    ]
    header = Header("frozen choices", {"decisions": DECISIONS}, {})
    with (
        Progress(console=Console(stderr=True)) as bar,
        open_run(given.out, header, Executor(given.workers)) as run,
    ):
        shown = bar.add_task("digests")
        found = run.do_all(tasks, lambda done, of: bar.update(shown, completed=done, total=of))
    if given.write:
        write_whole(given.write, (json.dumps(found, indent=0) + "\n").encode())
        print(f"wrote {len(found)} lists of digests to {given.write}")
        return
    frozen = json.loads(given.compare.read_text())
    told = {key: difference(frozen.get(key, "not frozen"), result) for key, result in found.items()}
    parted = {key: text for key, text in told.items() if text}
    for key, text in parted.items():
        print(f"{key}: {text}")
    print(f"{len(found) - len(parted)} of {len(found)} are as they were")
    raise SystemExit(bool(parted))


if __name__ == "__main__":
    main()
