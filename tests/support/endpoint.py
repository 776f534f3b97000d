"""Servers on loopback: an endpoint of OpenAI's protocol with a script in place of a model, and `krypenv serve`."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HANG = object()  # in place of a reply


def first_listed(text):
    """Find the first legal move that a text lists last."""
    return re.findall(r"Your moves: ([^,.\n]+)", text)[-1]


def first_move(messages):
    """Name the first legal move that the last message lists."""
    return f"MOVE: {first_listed(messages[-1]['content'])}"


def greedy(messages):
    """Name the move that takes the fewest points, as the rules of the small games count them."""
    moves = re.findall(r"Your moves: ([^.\n]+)", messages[-1]["content"])[-1].split(", ")
    return "MOVE: " + min(moves, key=lambda move: move.count("S") + move.count("A") + 5 * move.count("#"))


@contextlib.contextmanager
def endpoint(script=first_move, status=200):
    """Serve, and give the base address and the list of all requests: `script` maps messages to a reply, or HANG."""
    requests, released = [], threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            requests.append(body)
            reply = script(body["messages"])
            if reply is HANG:
                released.wait(60)
                return
            words = sum(len(message["content"].split()) for message in body["messages"])
            usage = {"prompt_tokens": words, "completion_tokens": len(reply.split()), "total_tokens": words}
            about = {"id": "1", "created": 0, "model": body["model"], "usage": usage}
            choice = {"index": 0, "finish_reason": "stop"}
            message = {"role": "assistant", "content": reply}
            if body.get("stream"):
                chunk = about | {"object": "chat.completion.chunk", "choices": [choice | {"delta": message}]}
                self.reply("text/event-stream", f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n")
            else:
                whole = about | {"object": "chat.completion", "choices": [choice | {"message": message}]}
                self.reply("application/json", json.dumps(whole if status == 200 else {"error": {"message": "no"}}))

        def reply(self, kind, text):
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests
    finally:
        released.set()
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def served(*options):
    """Run `krypenv serve`, and give its address."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    line = [sys.executable, "-m", "krypenv", "serve", "--port", str(port), *options]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as server, contextlib.ExitStack() as stack:
        stack.callback(server.terminate)
        address = next(filter(None, (re.search(r"http://\S+", line) for line in server.stdout)))[0]
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        yield address
