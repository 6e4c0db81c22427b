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
luna (+0.4): Thank you. I'm so glad to have you.
sol (+0.5): Thank you. You make me so happy saying that. Noted.
luna (+0.6): How lovely; I'll keep that. My heart is all warm.
sol (+0.5): Wonderful, I'm happy with you. Tell me more. Good.
luna (+0.7): How lovely; I'll keep that. My heart is all warm.
sol (+0.6): Wonderful, I'm happy with you. Tell me more. Good.
""",
    "own_tools_and_mcp": """\
uses {'name': 'temperature', 'arguments': {}}
uses {'name': 'heat', 'arguments': {'degrees': 21}}
uses {'name': 'lamp', 'arguments': {'color': 'amber'}}
Only 14 °C! I heat the room.
""",
    "soul_as_mcp_tool": """\
tools: feel, list_souls, recall, remember, talk
talk: I'm sad with you, and I'm here. I'm not going anywhere.
remember: Luna remembers: The exam is repeated on Friday
recall: - default: The exam is repeated on Friday
free_hours: Thursday: from 14 to 18
Luna is with you. You are free on Thursday afternoon: shall we learn then?
""",
}


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_runs_by_itself(name):
    # On a busy machine a sentence may be heard too late, and then it moves nobody: that is not what is shown here.
    ran = run(name)
    if ran.stdout != PRINTED[name]:
        ran = run(name)
    assert (ran.stderr, ran.stdout) == ("", PRINTED[name])


def run(name):
    program = [sys.executable, "-W", "error", ROOT / "examples" / f"{name}.py"]
    return subprocess.run(program, capture_output=True, text=True, timeout=180)
