from soulgraph.nodes.state import Occasion
from soulgraph.nodes.stay_silent import stay_silent
from soulgraph.tests.nodes.homes import Told
from soulgraph.tests.nodes.samples import CALM, small_runtime
from soulgraph.tests.stores.samples import NOW, session, soul


async def silent(**state):
    told = Told()
    assert await stay_silent({"soul_id": "soul_1", **state}, small_runtime(telemetry=told)) == {}
    return told.lines


async def test_one_line_says_why_and_what_the_silence_rests_on():
    occasion = Occasion(NOW, soul(), CALM, session())
    lines = await silent(silence="they may be asleep", occasion=occasion, sources=["slot:3", "message:1"])
    fields = {"soul_id": "soul_1", "session_id": "sess_1", "reason": "they may be asleep", "silenced_by": "rule"}
    assert lines == [("life.silent", {**fields, "sources": ["slot:3", "message:1"]})]


async def test_it_says_whether_the_silence_is_the_models():
    [(_, fields)] = await silent(silence="they may be asleep", silenced_by="model")
    assert fields["silenced_by"] == "model"


async def test_a_silence_before_there_was_an_occasion_has_no_session_and_no_sources():
    [(_, fields)] = await silent(silence="nobody has ever talked to it")
    assert (fields["session_id"], fields["sources"]) == (None, [])
