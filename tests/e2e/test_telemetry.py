"""Whether a telemetry file and the decisions in traces quote users and models: by default they do not."""

import asyncio
import json

import pytest

from soulgraph.runtime import proactive_scheduler
from soulgraph.tests.e2e.afterglow import attentive, settled
from soulgraph.tests.e2e.test_proactive import NINE, stream
from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.runtime.tracing.receiver import receiving
from soulgraph.tests.stub_openai import Reply

SAID = {
    "以后都叫我薄荷糖": "薄荷糖",  # an explicit wish: the value
    "不要再叫我铁皮人了": "铁皮人",  # a correction: the key
    "好的，琥珀": "琥珀",  # its confirmation: the evidence
    "以后回答之前先说青苔两个字": "青苔",  # a free-form wish: all three, and a source of the next prompt
    "用理性模式跟我说风铃": "理性模式跟我",  # the evidence of a change of mode
}
IMPULSES = [
    Reply(status=400, text="saffron is not allowed"),
    Reply(json.dumps({"speak": False, "reason": "they dreamt of marzipan"})),
    Reply(json.dumps({"speak": True, "text": "灯亮了吗？", "reason": "they await the heliotrope"})),
]
PLANTED = [*SAID.values(), "saffron", "marzipan", "heliotrope"]
EVENTS = {
    "persona.context.built",
    "persona.mode.changed",
    "persona.preference.persisted",
    "persona.preference.rejected",
    "turn.completed",
    "life.silent",
    "life.spoke",
}


class Told:
    """The lines of the telemetry file, and the decisions in the traces, of one conversation with planted words."""

    def __init__(self, lines, decisions):
        self.lines, self.decisions = lines, decisions

    def of(self, event):
        return [line for line in self.lines if line["event"] == event]


async def conversation(stub, folder, **settings):
    now = NINE
    async with receiving() as receiver:
        settings |= {"data_dir": folder, "timezone": "UTC", "otlp_endpoint": f"{receiver.url}/v1/traces"}
        settings |= {"llm_base_url": attentive(stub).base_url, "llm_model": "stub"}
        async with serving(clock=lambda: now, **settings) as client:
            soul_id = await new_soul(client)
            for text in SAID:
                await say(client, text, soul_id=soul_id, session_id="s")
            await settled(client)
            async with stream(client, soul_id) as heard:
                stub.script(*IMPULSES)
                while not heard:
                    now += 600
                    await asyncio.sleep(0.05)
    lines = [json.loads(line) for line in (folder / "telemetry.jsonl").read_text("utf-8").splitlines()]
    runs = [run.metadata for run in receiver.runs.values()]
    return Told(lines, [{key: run[key] for key in run if key.startswith("soulgraph.")} for run in runs])


@pytest.fixture
def talk(stub, tmp_path, monkeypatch):
    monkeypatch.setattr(proactive_scheduler, "POLL_S", 0.02)
    return lambda **settings: conversation(stub, tmp_path, **settings)


def found_in(texts):
    whole = json.dumps(texts, ensure_ascii=False)
    return [word for word in PLANTED if word in whole]


async def test_no_line_and_no_decision_of_a_trace_quotes_anybody(talk):
    told = await talk()
    assert {line["event"] for line in told.lines} >= EVENTS
    assert {key.removeprefix("soulgraph.") for run in told.decisions for key in run} >= EVENTS
    assert (found_in(told.lines), found_in(told.decisions)) == ([], [])


async def test_what_was_decided_is_told_without_the_words(talk):
    told = await talk()
    decisions = [line["writeback_decision"] for line in told.lines if "writeback_decision" in line]
    assert decisions[0] == {
        "key": "address",
        "verdict": "persist",
        "reason": "explicit",
        "confidence": 0.9,
        "evidence_count": 1,
    }
    assert [(one["key"], one["reason"]) for one in decisions[1:4]] == [
        ("other", "correction"),
        ("other", "confirmed"),
        ("other", "explicit"),
    ]
    [changed] = told.of("persona.mode.changed")
    assert (changed["mode_after"], changed["source"]) == ("rational", "user")
    built = told.of("persona.context.built")[-1]
    assert {"preference:address", "preference:other"} <= {*built["sources"]}
    assert [line["silenced_by"] for line in told.of("life.silent")] == ["model_refused", "model"]
    assert all(
        {"session_id", "soul_id", "turn_id"} <= line.keys() for line in told.lines if "life" not in line["event"]
    )
    assert all({"session_id", "soul_id", "sources"} <= line.keys() for line in told.lines if "life" in line["event"])


async def test_if_it_is_asked_for_everything_is_quoted(talk):
    told = await talk(telemetry_words=True)
    assert (found_in(told.lines), found_in(told.decisions)) == (PLANTED, PLANTED)
    kept = told.of("persona.preference.persisted")[0]["writeback_decision"]
    assert (kept["key"], kept["value"], kept["evidence"]) == ("address", "薄荷糖", ["以后都叫我薄荷糖"])
    assert told.of("life.spoke")[0]["reason"] == "they await the heliotrope"
