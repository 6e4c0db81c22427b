"""An MCP server that behaves as a file says, over stdio or HTTP; it needs nothing but Python, so it starts at once.

The file is JSON and is read anew for every message. Next to it `.calls` has a line for every tool call.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FILE = Path(sys.argv[1])
LOOK = {"name": "look", "inputSchema": {"type": "object", "properties": {}}, "annotations": {"readOnlyHint": True}}
GROWN = []
SESSIONS = set()


def say(line, file):
    file.write(f"{line}\n")
    file.flush()


def behaviour():
    return json.loads(FILE.read_text())


def note(suffix, line):
    with FILE.with_suffix(suffix).open("a") as file:
        file.write(f"{line}\n")


def hang():
    while True:
        time.sleep(60)


def answer(message, send):
    """The answer to one message, or None."""
    act, method = behaviour(), message.get("method")
    if "id" not in message:
        return None
    if act.get("hang_on") == method:
        hang()
    if error := act.get("rpc_error_on", {}).get(method):
        return reply(message, error=error)
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        info = {"name": "fake", "version": "1"}
        return reply(message, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
    if method == "tools/list":
        return reply(message, {"tools": GROWN or act.get("tools", [LOOK])})
    if method == "tools/call":
        return called(message, act, send)
    return reply(message, {})


def called(message, act, send):
    name = message["params"]["name"]
    note(".calls", name)
    does = act.get("calls", {}).get(name, {"say": "a room"})
    if does.get("die"):
        os._exit(1)
    if does.get("hang"):
        hang()
    if error := does.get("rpc_error"):
        return reply(message, error=error)
    if grow := does.get("grow"):
        GROWN[:] = grow
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    content = does.get("content", [{"type": "text", "text": does.get("say", "")}])
    more = {"structuredContent": does["structured"]} if "structured" in does else {}
    return reply(message, {"content": content, "isError": False, **more})


def reply(message, result=None, error=None):
    return {"jsonrpc": "2.0", "id": message["id"], **({"error": error} if error else {"result": result})}


def over_stdio():
    lock = threading.Lock()

    def send(message):
        with lock:
            say(json.dumps(message), sys.stdout)

    def work(message):
        if (told := answer(message, send)) is not None:
            send(told)

    for line in sys.stdin:
        threading.Thread(target=work, args=(json.loads(line),), daemon=True).start()
    if behaviour().get("stubborn"):
        hang()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def say(self, status, body=b"", kind="application/json", **headers):
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.say(405)

    def do_DELETE(self):
        self.say(200)

    def do_POST(self):
        act = behaviour()
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if status := act.get("status"):
            return self.say(status, b'{"error": "no"}')
        if page := act.get("page"):
            return self.say(200, page.encode(), "text/html")
        new = {}
        if act.get("session"):
            if message.get("method") == "initialize":
                new = {"Mcp_Session_Id": uuid.uuid4().hex}
                SESSIONS.add(new["Mcp_Session_Id"])
            elif self.headers.get("Mcp-Session-Id") not in SESSIONS:
                return self.say(act.get("unknown_session", 404), b'{"error": "no such session"}')
        if "id" not in message:
            return self.say(202, **new)
        if act.get("sse") and message["method"] == "tools/call":
            return self.stream(message)
        told = answer(message, lambda message: None)
        return self.say(200, json.dumps(told).encode(), **new)

    def stream(self, message):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b": here\n\n")
        self.wfile.flush()
        told = answer(message, lambda message: None)
        self.wfile.write(f"event: message\ndata: {json.dumps(told)}\n\n".encode())
        self.close_connection = True


def main():
    act = behaviour()
    note(".pids", os.getpid())
    if act.get("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if act.get("grandchild"):
        child = subprocess.Popen(["sleep", "300"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        note(".pids", child.pid)
    for line in act.get("stderr", ()):
        say(line, sys.stderr)
    for line in act.get("banner", ()):
        say(line, sys.stdout)
    if "exit" in act:
        sys.exit(act["exit"])
    if act.get("http"):
        ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
    over_stdio()


main()
