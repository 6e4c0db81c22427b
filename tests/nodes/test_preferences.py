from soulgraph.nodes.preferences import keep_preferences, report_decisions
from soulgraph.soul.preferences import Decision
from soulgraph.tests.nodes.samples import Notebook
from soulgraph.tests.stores.samples import NOW

KEPT = Decision("tone", "casual", "explicit", ["以后随意点"])
ASKED = Decision("emoji", "no", "correction", ["表情太多"])


async def test_only_what_the_guard_let_through_is_stored(home):
    async with home.write() as tx:
        await keep_preferences(tx, "soul_1", "user_1", [KEPT, ASKED], NOW)
    async with home.read() as tx:
        [kept] = await tx.preferences.all("soul_1")
    assert (kept.user_id, kept.shared_with) == ("user_1", ())
    assert (kept.key, kept.value, kept.source, kept.evidence) == ("tone", "casual", "explicit", ["以后随意点"])


def test_every_decision_is_reported_with_its_evidence():
    telemetry = Notebook()
    report_decisions([KEPT, ASKED], telemetry, turn_id="turn_1")
    [persisted] = telemetry.told("persona.preference.persisted")
    [rejected] = telemetry.told("persona.preference.rejected")
    assert persisted == {"turn_id": "turn_1", "writeback_decision": KEPT.to_dict()}
    assert rejected["writeback_decision"]["verdict"] == "ask"
