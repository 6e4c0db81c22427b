"""The examples are run as the programs that they are."""

import subprocess
import sys

import pytest

from soulgraph.scripts.draw_graph import ROOT

PRINTED = {
    "react_agent": """\
human: My present for my daughter is lost, I am so sad. It is order 17.
order_status: order 17 is lost
companion: I'm sad with you, and I'm here. I'm not going anywhere.
ai: Order 17 is lost; a new one is on its way.
""",
    "two_souls": """\
luna (+0.5): Wonderful, I'm happy with you. I'm even happier than you.
sol (+0.4): How good. Let me have half of that joy. That is worth something.
luna (+1.0): Hehe, I'm so happy!
sol (+0.8): Wonderful, I'm happy with you. Tell me more. Good.
luna (+1.0): Hehe, I'm so happy!
sol (+1.0): Haha, one more word and I'll float away! Let me enjoy it first.
""",
    "own_tools_and_mcp": """\
uses {'name': 'temperature', 'arguments': {}}
uses {'name': 'heat', 'arguments': {'degrees': 21}}
uses {'name': 'lamp', 'arguments': {'color': 'amber'}}
Only 14 °C! I heat the room.
""",
}


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_runs_by_itself(name):
    program = [sys.executable, "-W", "error", ROOT / "examples" / f"{name}.py"]
    ran = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert (ran.stderr, ran.stdout) == ("", PRINTED[name])
