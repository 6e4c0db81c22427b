"""What a server reads and imports, and when."""

import json
import subprocess
import sys

FRESH = """
import asyncio, json, sys, threading, time
from pathlib import Path

from soulgraph.runtime.ports import open_ports
from soulgraph.runtime.warm_up import STEPS
from soulgraph.settings import Settings

loop_thread, seen = threading.get_ident(), []


def watch(event, args):
    if threading.get_ident() == loop_thread and event in ("open", "import"):
        seen.append(Path(args[0]).name if event == "open" and isinstance(args[0], str) else str(args[0]))


async def main():
    async with open_ports(Settings(data_dir=Path(sys.argv[1]), _env_file=None), time.time) as ports:
        for step in STEPS:  # as the warm-up does it, a moment after the start
            await asyncio.to_thread(step)
        sys.addaudithook(watch)
        await ports.context.senses.emotions.recognise("今天有点难过")
        await ports.context.memory.recall.recall("nobody", "今天有点难过")
        await ports.context.memory.events.find("none")

asyncio.run(main())
print(json.dumps({"seen": seen, "chroma": "chromadb" in sys.modules}))
"""


def test_the_first_words_and_the_first_event_keep_nobody_waiting_for_word_lists_or_chroma(tmp_path):
    """In a process of its own: in this one everything has long been read."""
    ran = subprocess.run([sys.executable, "-c", FRESH, tmp_path], capture_output=True, text=True, check=True)
    told = json.loads(ran.stdout.splitlines()[-1])
    assert told["chroma"], "nothing asked Chroma: the test would prove nothing"
    assert not [name for name in told["seen"] if name.endswith(".yaml") or name.startswith("chromadb")]
