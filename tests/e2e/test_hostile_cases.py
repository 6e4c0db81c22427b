"""Whatever is sent, the answer is a reason and never a failure of ours; and the server goes on.

`SOULGRAPH_TEST_HOSTILE` names another folder of cases, such as one that was not looked at while building.
"""

import os
from pathlib import Path

from soulgraph.tests.e2e.hostile import cases_in, prepared, send, unreadable
from soulgraph.tests.live import say

FOLDER = Path(os.environ.get("SOULGRAPH_TEST_HOSTILE") or Path(__file__).parent / "cases")


async def test_every_hostile_request_is_answered_with_a_reason_and_what_it_stored_can_be_read(client):
    cases = cases_in(FOLDER)
    assert cases, f"no cases in {FOLDER}"
    ids = await prepared(client)
    outcomes = [await send(client, case, ids) for case in cases]
    assert [(one.case_id, one.flaw) for one in outcomes if one.flaw] == []
    assert await unreadable(client) == []
    await say(client, "are you still there?", session_id="target")
