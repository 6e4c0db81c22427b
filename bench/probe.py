"""Asks a server every 20 ms whether it is well, until its input is closed; then prints what each answer took, in ms.

A program of its own that imports little, for `bench/stalls.py`. A probe that had to wait for the one before it is
counted from when it was due.
"""

import http.client
import json
import select
import sys
import time

PERIOD_S = 0.02


def main(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    waited_ms = []
    print("ready", flush=True)
    due = time.monotonic()
    while not select.select([sys.stdin], [], [], max(0.0, due - time.monotonic()))[0]:
        connection.request("GET", "/healthz")
        if connection.getresponse().read():
            waited_ms.append((time.monotonic() - due) * 1000)
        due += PERIOD_S
    print(json.dumps(waited_ms))


if __name__ == "__main__":
    main(int(sys.argv[1]))
