"""A player of Krypkasino and its relatives in plain Python: few cards where points are bad, else many."""

import json
import sys

wants = min
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        wants = max if message["fields"]["goal"] == "high" else min
        answer = {"name": "few cards"}
    elif message["type"] == "decide":
        answer = {"id": message["id"], "move": wants(message["moves"], key=len)}
    else:
        break
    print(json.dumps(answer), flush=True)
