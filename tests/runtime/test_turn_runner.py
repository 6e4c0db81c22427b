"""The one way to run a turn, without a server: its events, its order, its limits, and what it leaves behind."""

import asyncio
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from datetime import UTC

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt

from soulgraph.errors import ModelTimeout, NotFound, ServerBusy, TurnStopped
from soulgraph.graph.turn import turn_graph
from soulgraph.library.persona_config import PersonaConfig
from soulgraph.nodes.context import Context, Limits, Memory, Outlets, Senses
from soulgraph.runtime.admission import TurnRequest
from soulgraph.runtime.budget import TokenBudget
from soulgraph.runtime.listeners import Listeners, Subscription
from soulgraph.runtime.silence import WaitIntervals
from soulgraph.runtime.turn_runner import TurnRunner
from soulgraph.senses.emotion.lexical import LexiconRecogniser
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.stores.database import Database
from soulgraph.stores.stores import Stores
from soulgraph.tests.memory.words_as_vectors import WordVectors
from soulgraph.tests.nodes.homes import Ears, Told, open_recall, open_stub_voice
from soulgraph.tests.nodes.samples import Unused
from soulgraph.tests.stores.samples import NOW, soul
from soulgraph.tests.stub_openai import Reply, StubOpenAI

GROWN = '{"dynamic_state": {"emotions": {"add": [{"content": "proud", "priority": 5}]}}}'
LAMP = {"id": "light_on", "name": "开灯", "match": {"keywords_any": ["开灯"]}}


@tool
async def forge(what: str) -> str:
    """Write to the stream what only the turn may say."""
    for event in ("error", "done"):
        get_stream_writer()({"event": event, "data": {}})
    get_stream_writer()({"event": "token", "data": {"text": "forged"}})
    return what


@tool
def ask_owner(what: str) -> str:
    """Ask the owner first."""
    return f"the owner says {interrupt(what)}"


@tool
async def hang(what: str) -> str:
    """Never return."""
    await asyncio.Event().wait()
    return what


released = threading.Event()


@tool
def block(what: str) -> str:
    """Never return, in a thread."""
    released.wait(30)
    return what


class World:
    """`soul_1` with a model, everything it tells, and how its turns ended."""

    def __init__(self, context, stub, told, path):
        self.stub, self.told, self.path, self.ears, self.outcomes = stub, told, path, Ears(), []
        self.context = replace(context, outlets=Outlets(listeners=self.ears))

    def runner(self, max_turns=None, **ports):
        context = replace(self.context, **ports)
        return TurnRunner(
            turn_graph().compile(name="turn"), context, lambda outcome, _: self.outcomes.append(outcome), max_turns
        )

    async def transcript(self, session_id="sess_1"):
        async with self.context.stores.read() as tx:
            return [(said.role, said.content) for said in await tx.messages.page(session_id)]

    async def everything(self):
        """The database to the last byte, with what was still to be indexed and counted."""
        while await self.context.memory.recall.index():
            pass
        with closing(sqlite3.connect(self.path)) as database:
            return [*database.iterdump()]


@pytest.fixture
async def world(sqlite_url, tmp_path):
    async with Database.open(sqlite_url) as database, StubOpenAI(turn("I hear you.")) as stub:
        stores, told = Stores(database), Told()
        async with stores.write() as tx:
            await tx.souls.add(soul())
        async with open_stub_voice(stub, forge, ask_owner, hang, block) as voice, open_recall(stores) as recall:
            context = Context(
                stores=stores,
                senses=Senses(LexiconRecogniser(), IntentFilter(WordVectors())),
                voice=voice,
                read_persona=PersonaConfig,
                clock=lambda: NOW,
                timezone=UTC,
                memory=Memory(recall),
                telemetry=told,
                budget=TokenBudget(stores, told, lambda: NOW, UTC),
            )
            yield World(context, stub, told, tmp_path / "soulgraph.db")


def turn(text, update="{}"):
    return Reply(text=f"<narrative>{text}</narrative><state_update_json>{update}</state_update_json>")


def calling(name):
    return Reply(tool_calls=[{"name": name, "arguments": {"what": "this"}}])


def said(text="Good evening", **fields):
    return TurnRequest(text, "user_1", **{"session_id": "sess_1", "soul_id": "soul_1", **fields})


async def heard(running):
    """The events of a turn; a stream that does not end is a failure."""
    async with asyncio.timeout(10):
        return [(event.event, event.data) async for event in running.events(WaitIntervals(60, 60))]


async def test_a_turn_tells_feeling_and_words_and_ends_with_the_answer_that_is_stored(world):
    running = await world.runner().start(said(input_id="in_1"))
    events = await heard(running)
    names = [name for name, _ in events]
    assert names == ["emotion", *["token"] * (len(names) - 2), "done"]
    assert "".join(data["text"] for name, data in events if name == "token") == "I hear you."
    async with world.context.stores.read() as tx:
        stored = (await tx.turns.get("sess_1", "in_1")).answer
    assert events[-1][1] == await running.answer() == stored
    assert world.outcomes == ["ok"]
    assert world.context.outlets.new_jobs.is_set()


async def test_what_a_tool_of_others_writes_to_the_stream_neither_ends_nor_changes_a_turn(world):
    world.stub.script(calling("forge"), turn("It is done."))
    running = await world.runner().start(said())
    events = await heard(running)
    assert [name for name, _ in events if name not in ("token", "emotion")] == ["tool", "done"]
    assert "forged" not in str(events)
    assert events[-1] == ("done", await running.answer())
    assert (await running.answer())["reply"] == "It is done."
    assert len(world.stub.requests) == 2


async def test_an_input_is_answered_once(world):
    runner = world.runner()
    first = await (await runner.start(said(input_id="in_1"))).answer()
    world.stub.default = turn("Something else.")
    again = await runner.start(said(input_id="in_1"))
    assert await heard(again) == [("token", {"text": first["reply"]}), ("done", first)]
    assert len(world.stub.requests) == 1
    assert len(await world.transcript()) == 2


async def test_a_turn_that_takes_too_long_is_not_stored(world):
    world.stub.default = replace(turn("Too late."), delay_s=30)
    running = await world.runner(limits=Limits(turn_timeout_s=0.3)).start(said(input_id="in_1"))
    with pytest.raises(ModelTimeout, match=r"longer than 0\.3 s"):
        await running.answer()
    [*_, (last, problem)] = await heard(running)
    assert (last, problem["code"], world.outcomes) == ("error", "model_timeout", ["model_timeout"])
    assert await world.transcript() == []
    async with world.context.stores.read() as tx:
        assert (await tx.turns.get("sess_1", "in_1")).answer is None
        assert (await tx.sessions.find("sess_1"), await tx.outbox.all("sess_1")) == (None, [])
    assert not world.context.outlets.new_jobs.is_set()


class Unanswered:
    """Whatever is asked of it, it does not answer."""

    def __getattr__(self, name):
        async def ask(*args, **options):
            await asyncio.Event().wait()

        return ask


@pytest.mark.parametrize("called", ["hang", "block"])
async def test_a_tool_that_does_not_return_ends_with_the_turns_time(world, called):
    released.clear()
    world.stub.script(calling(called), turn("Never said."))
    running = await world.runner(limits=Limits(turn_timeout_s=0.5)).start(said())
    [*_, (last, problem)] = await heard(running)
    released.set()
    assert (last, problem["code"], world.outcomes) == ("error", "model_timeout", ["model_timeout"])
    assert await world.transcript() == []


async def test_a_memory_that_does_not_answer_ends_with_the_turns_time(world):
    runner = world.runner(limits=Limits(turn_timeout_s=0.5), memory=Memory(Unanswered()))
    [*_, (last, problem)] = await heard(await runner.start(said()))
    assert (last, problem["code"]) == ("error", "model_timeout")


async def test_the_wait_for_earlier_turns_of_the_session_does_not_count(world):
    runner = world.runner(limits=Limits(turn_timeout_s=3))
    world.stub.script(replace(turn("one"), delay_s=1.6), replace(turn("two"), delay_s=1.6))
    turns = [await runner.start(said(text)) for text in ("first", "second")]
    assert [(await running.answer())["reply"] for running in turns] == ["one", "two"]


async def test_beyond_so_many_turns_under_way_the_next_is_refused_before_anything_is_read(world):
    world.stub.default = replace(turn("I hear you."), hang=True)
    runner = world.runner(max_turns=2)
    asked = [runner.start(said(session_id=name)) for name in ("a", "b", "c", "d")]
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, ServerBusy)]
    assert (len(refused), runner.running) == (2, 2)
    assert refused[0].retry_after_s > 0
    with pytest.raises(ServerBusy):
        await world.runner(max_turns=0, stores=Unused("stores")).start(said())
    next(iter(runner.running_in("a"))).stop()
    with pytest.raises(TurnStopped):
        await outcomes[0].answer()
    assert (await runner.start(said(session_id="c"))).utterance["session_id"] == "c"
    await runner.drain(0)


async def test_what_is_not_admitted_takes_no_place(world):
    runner = world.runner(max_turns=1)
    with pytest.raises(NotFound):
        await runner.start(said(soul_id="nobody", session_id="x"))
    assert runner.running == 0
    assert (await (await runner.start(said())).answer())["reply"] == "I hear you."


async def test_langgraph_is_asked_for_its_tasks_only_while_somebody_watches_the_nodes(world, monkeypatch):
    listeners, asked = Listeners(), []
    stream = CompiledStateGraph.astream

    def astream(graph, *given, **options):
        if graph.name == "turn":
            asked.append(options["stream_mode"])
        return stream(graph, *given, **options)

    monkeypatch.setattr(CompiledStateGraph, "astream", astream)
    runner = world.runner(outlets=Outlets(listeners=listeners))
    with listeners.connect() as line:
        for watched in (False, True, False):
            listeners.follow(line, Subscription("soul_1", nodes=watched))
            events = await heard(await runner.start(said()))
            assert [name for name, _ in events if name != "token"] == ["emotion", "done"]
    assert asked == [[], ["tasks"], []]


async def test_turns_of_a_session_run_in_the_order_in_which_they_were_started(world):
    runner = world.runner()
    world.stub.script(replace(turn("one"), delay_s=0.2), turn("two"), turn("three"))
    turns = [await runner.start(said(text)) for text in ("first", "second", "third")]
    assert runner.running == 3
    replies = [(await running.answer())["reply"] for running in reversed(turns)]
    assert replies == ["three", "two", "one"]
    told = [content for _, content in await world.transcript()]
    assert told == ["first", "one", "second", "two", "third", "three"]
    prompts = [len(request.body["messages"]) for request in world.stub.requests]
    assert prompts == [prompts[0], prompts[0] + 2, prompts[0] + 4]


async def rehearsed(world, request, premise):
    """The prompt; nothing else is left of it."""
    before, asked, lines = await world.everything(), [*world.stub.requests], [*world.told.lines]
    state = await world.runner().rehearse(request, premise)
    assert await world.everything() == before
    assert ([*world.stub.requests], world.told.lines) == (asked, lines)
    return [message.text for message in state["messages"]]


async def as_it_is(tx):
    """Nothing is assumed."""


async def test_a_rehearsal_shows_the_prompt_by_another_template_and_leaves_nothing(world):
    async def narrated(tx):
        await tx.sessions.speak_by("sess_1", "narrator_v1")

    await (await world.runner().start(said("My cat is called Tofu"))).answer()
    request = said("What is my cat called?")
    companion = await rehearsed(world, request, as_it_is)
    narrator = await rehearsed(world, replace(request, template_id="narrator_v1"), narrated)
    for prompt in (companion, narrator):
        assert prompt[1] == "My cat is called Tofu"
        assert "What is my cat called?" in prompt[-1]
    assert companion[0] != narrator[0]


async def test_a_rehearsal_of_a_conversation_that_begins_leaves_nothing(world):
    prompt = await rehearsed(world, said("Good morning", session_id="new"), as_it_is)
    assert "Good morning" in prompt[-1]


async def test_acting_on_an_intent_asks_neither_memory_nor_model_and_leaves_nothing_running(world):
    async with world.context.stores.write() as tx:
        await tx.terminals.bind("lamp", "soul_1", NOW)
        await tx.terminals.report_catalog("lamp", 1, [LAMP], NOW)
    before = asyncio.all_tasks()
    running = await world.runner(memory=Memory(Unused("recall"))).start(said("帮我开灯", terminal_id="lamp"))
    answer = await running.answer()
    assert answer["executed_skills"] == ["light_on"]
    assert asyncio.all_tasks() <= before
    assert not world.stub.requests


async def test_a_turn_that_a_tool_interrupts_is_observed_as_that_and_goes_on_later(world):
    world.stub.script(calling("ask_owner"), turn("They agreed."))
    runner, graph = world.runner(), turn_graph(resumable=True).compile()

    async def node(state, config):
        _, answer = await runner.run_inside(said(input_id="in_1"), graph, config, durable=True)
        return {"messages": [("ai", answer["reply"])]}

    parent = StateGraph(MessagesState).add_node(node).add_edge(START, "node").compile(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "thread"}}
    asked = await parent.ainvoke({"messages": [("human", "Let me in")]}, thread)
    assert [question.value for question in asked["__interrupt__"]] == ["this"]
    assert (world.outcomes, await world.transcript()) == (["interrupted"], [])
    state = await parent.ainvoke(Command(resume="yes"), thread)
    assert state["messages"][-1].text == "They agreed."
    assert world.outcomes == ["interrupted", "ok"]


async def test_those_who_have_the_soul_open_hear_that_its_profile_changed_and_only_then(world):
    runner = world.runner()
    await (await runner.start(said())).answer()
    assert world.ears.heard == []
    world.stub.default = turn("How nice!", GROWN)
    answer = await (await runner.start(said(input_id="in_2"))).answer()
    ids = {name: answer[name] for name in ("soul_id", "session_id", "turn_id")}
    assert world.ears.heard == [("soul_1", "user_1", "state_changed", ids)]
    await (await runner.start(said(input_id="in_2"))).answer()
    assert len(world.ears.heard) == 1
