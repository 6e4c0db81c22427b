"""What arrives at a server of traces when a real turn is taken, over LangSmith's protocol and over OTLP."""

import asyncio
import json
import logging
from contextlib import asynccontextmanager

import pytest

from soulgraph.runtime.tracing import otlp
from soulgraph.runtime.tracing.ports import open_tracing
from soulgraph.runtime.tracing.redaction import HIDDEN
from soulgraph.settings import Settings
from soulgraph.tests.e2e.afterglow import EXTRACTS, REFLECTS, event, reflection, settled
from soulgraph.tests.e2e.test_afterglow import SURPRISED
from soulgraph.tests.live import free_port, new_soul, say, serving
from soulgraph.tests.runtime.test_proactive_scheduler import opened
from soulgraph.tests.runtime.tracing.receiver import receiving
from soulgraph.tests.stub_openai import Reply, StubOpenAI

LLM_KEY, TRACE_KEY = "a-key-that-nobody-may-see", "another-key-of-the-traces"
MONOLOGUE, THOUGHT = "北区的灯一盏盏灭掉的那个晚上", "I dread the day they stop writing."
SECRET, PASTED = "My sister's name is Aurelia.", "sk-proj-abcdefgh12345678"
FEELING = Reply(json.dumps({"emotion": "sadness", "intensity": 0.6, "confidence": 0.9}))
REMEMBER = Reply(tool_calls=[{"name": "remember", "arguments": {"fact": "likes rain"}}])
TURN = {
    "0 emotion": {"0 feel": {}},
    "1 pad_update": {},
    "2 intent_filter": {},
    "3 gate": {},
    "4 recall": {},
    "5 persona_context": {},
    "6 tool_loop": {"0 model": {"0 voice": {}}, "1 tools": {"0 remember": {}}, "2 model": {"0 voice": {}}},
    "7 parse": {},
    "8 writeback": {},
}
AFTERGLOW = {
    "0 update_state": {},
    "1 propose": {},
    "2 draw_facts": {"0 extract_facts": {}},
    "3 archive": {"0 extract_event": {}},
    "4 reflect": {},
    "5 maintain": {},
    "6 suggest_update": {},
}


@pytest.fixture
async def receiver():
    async with receiving() as receiver:
        yield receiver


@pytest.fixture(params=["langsmith", "otlp"])
def where(request, receiver, langsmith_env):
    """Settings and variables that send traces to the receiver."""
    if request.param == "otlp":
        return {"otlp_endpoint": f"{receiver.url}/v1/traces"}
    langsmith_env(tracing="true", endpoint=receiver.url, api_key=TRACE_KEY)
    return {}


@asynccontextmanager
async def talking(tmp_path, **settings):
    """A server with a model that does all its tasks."""
    async with StubOpenAI() as stub:
        stub.when("prototypes", FEELING)
        stub.when(EXTRACTS, event("a visit"))
        stub.when(REFLECTS, reflection(THOUGHT))
        model = {"llm_base_url": stub.base_url, "llm_model": "stub", "llm_api_key": LLM_KEY, "emotion": "llm"}
        async with serving(data_dir=tmp_path, **model, **settings) as client:
            yield client, stub


async def test_a_turn_and_what_follows_it_are_two_trees_whose_runs_all_say_who_where_and_how(tmp_path, receiver, where):
    async with talking(tmp_path, **where) as (client, stub):
        soul_id = await new_soul(client)
        await client.post("/v1/souls/select", json={"terminal_id": "lamp", "soul_id": soul_id})
        stub.script(REMEMBER, SURPRISED)
        answer = await say(client, "Please remember that I like rain", session_id="s", terminal_id="lamp")
        await settled(client)

    turn, afterglow = await receiver.trace("turn"), await receiver.trace("afterglow")
    assert receiver.tree(turn) == TURN
    assert receiver.tree(afterglow) == AFTERGLOW
    labels = {
        "session_id": "s",
        "thread_id": "s",
        "user_id": "default",
        "soul_id": soul_id,
        "turn_id": answer["turn_id"],
        "terminal_id": "lamp",
        "mbti": "INFJ",
        "persona_mode": "hybrid",
        "exec_mode": "auto_execute",
    }
    for root in (turn, afterglow):
        for run in (root, *receiver.below(root)):
            assert labels.items() <= run.metadata.items(), run.name

    assert turn.metadata["soulgraph.turn.completed"][0]["sources"] == answer["persona"]["sources"]
    assert turn.metadata["soulgraph.persona.context.built"][0]["mode"] == "hybrid"
    inner = {run.name for run in receiver.runs.values() if run.metadata.get("inner_call") == run.name}
    assert inner == {"feel", "extract_facts", "extract_event"}
    kinds = {run.name: run.kind.lower() for run in receiver.runs.values()}
    assert (kinds["turn"], kinds["voice"], kinds["feel"], kinds["remember"]) == ("chain", "llm", "llm", "tool")
    assert kinds["recall"] == "retriever"
    if "otlp_endpoint" not in where:
        assert all({"soulgraph:inner", run.name} <= {*run.tags} for run in receiver.runs.values() if run.name in inner)


async def test_a_summary_is_found_by_its_session_and_person(tmp_path, receiver, where):
    async with talking(tmp_path, **where) as (client, stub):
        soul_id = await new_soul(client)
        await say(client, "It rained all day", soul_id=soul_id, session_id="s", user_id="ann")
        stub.script(Reply(json.dumps({"title": "Rain", "summary": "It rained all day."})))
        assert (await client.post("/v1/sessions/s/summarize")).status_code == 201
    summary = await receiver.trace("summarize")
    assert {"session_id": "s", "user_id": "ann", "soul_id": soul_id}.items() <= summary.metadata.items()


async def test_a_turn_that_fails_is_told_whole_with_its_error(tmp_path, receiver, where):
    async with talking(tmp_path, **where) as (client, stub):
        stub.script(*[Reply(status=401, text="no")] * 3)
        failed = await client.post("/v1/chat", json={"soul_id": await new_soul(client), "text": "hello"})
        assert failed.status_code == 502
    turn = await receiver.trace("turn")
    assert "ModelRefused" in turn.error
    assert receiver.tree(turn) == {**dict(list(TURN.items())[:6]), "6 tool_loop": {"0 model": {"0 voice": {}}}}
    assert [run.name for run in receiver.below(turn) if run.error] == ["tool_loop", "model", "voice"]
    assert {run.metadata["exec_mode"] for run in receiver.below(turn)} == {"auto_execute"}


async def test_a_soul_that_speaks_by_itself_is_a_tree_of_its_own(tmp_path, receiver, sqlite_url):
    endpoint = Settings.load(otlp_endpoint=f"{receiver.url}/v1/traces")
    async with open_tracing(endpoint), opened(sqlite_url, tmp_path) as world:
        await world.settle()
        await world.talk()
        with world.listening():
            while not world.calls:
                await world.pass_hours(1)
    life = await receiver.trace("life")
    assert receiver.tree(life) == {
        "0 consider": {},
        "1 decide": {"0 proactive": {}},
        "2 speak_up": {},
    }
    who = {"soul_id": world.soul_id, "session_id": "s", "thread_id": "s", "mbti": "INFJ"}
    how = {"persona_mode": "hybrid", "exec_mode": "auto_execute"}
    for run in (life, *receiver.below(life)):
        assert (who | how).items() <= run.metadata.items(), run.name


async def converse(client):
    """Enough for a reflection, of a soul that has an inner life, with things that are nobody's business."""
    soul_id = await new_soul(client, character_id="alserqi")
    for _ in range(5):
        await say(client, f"{SECRET} The key is {PASTED}.", soul_id=soul_id, session_id="s")
        await settled(client)
    about_the_person = await client.get(f"/v1/souls/{soul_id}/inner-state", params={"user_id": "default"})
    assert about_the_person.json()["inner_state"] == THOUGHT
    await say(client, "hello", soul_id=soul_id, session_id="s")


@pytest.mark.parametrize(
    ("redact", "hidden", "shown"),
    [
        ("secrets", (MONOLOGUE, THOUGHT, PASTED), (SECRET, HIDDEN)),
        ("content", (MONOLOGUE, THOUGHT, PASTED, SECRET, "Aurelia"), ("exec_mode",)),
    ],
)
async def test_a_trace_tells_as_much_as_it_may_and_never_a_key(tmp_path, receiver, where, redact, hidden, shown):
    async with talking(tmp_path, trace_redact=redact, **where) as (client, _):
        await converse(client)
    await receiver.trace("turn", 6)
    for text in (*hidden, LLM_KEY, TRACE_KEY):
        assert text not in receiver.everything
        assert json.dumps(text)[1:-1] not in receiver.everything
    for text in shown:
        assert text in receiver.everything


async def test_a_server_of_traces_that_is_away_fails_no_turn_and_costs_a_line(
    tmp_path, langsmith_env, monkeypatch, caplog
):
    away = f"http://127.0.0.1:{free_port()}"
    langsmith_env(tracing="true", endpoint=away, api_key=TRACE_KEY)
    monkeypatch.setattr(otlp, "TIMEOUT_S", 1)
    exporters = "langsmith.client", "opentelemetry.exporter.otlp.proto.http.trace_exporter"
    for name in exporters:
        monkeypatch.setattr(logging.getLogger(name), "filters", [])
    async with serving(data_dir=tmp_path, otlp_endpoint=f"{away}/v1/traces") as client:
        soul_id = await new_soul(client)
        await say(client, "hello", soul_id=soul_id)
        while {record.name for record in caplog.records if record.levelno >= logging.WARNING} != {*exporters}:
            await asyncio.sleep(0.05)
        await say(client, "hello again", soul_id=soul_id)
    assert sorted(record.name for record in caplog.records if record.levelno >= logging.WARNING) == sorted(exporters)
    assert all(len(record.getMessage()) < 400 for record in caplog.records)


async def test_without_a_word_about_traces_none_leaves(tmp_path, receiver, langsmith_env):
    langsmith_env(endpoint=receiver.url, api_key=TRACE_KEY)
    async with serving(data_dir=tmp_path) as client:
        await say(client, "hello", soul_id=await new_soul(client))
    assert not receiver.bodies
