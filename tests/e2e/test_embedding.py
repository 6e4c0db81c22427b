"""Souls in parent graphs of all kinds: their checkpointers, streams, threads and interrupts."""

from operator import add
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from soulgraph import Context, gated, open_souls, soul_named, soul_node, turn_graph
from soulgraph.errors import ConfigurationError, InvalidInput, NotFound
from soulgraph.nodes.state import TurnInput, TurnOutput
from soulgraph.tests.stub_openai import Reply


class Talk(MessagesState):
    soul: dict[str, Any]


class TwoSouls(MessagesState):
    luna: dict[str, Any]
    sol: dict[str, Any]


@tool
def open_door(why: str) -> str:
    """Open the door, if the owner agrees."""
    agreed = interrupt(f"may I open the door? {why}")
    again = interrupt("really?") if agreed else False
    return "the door is open" if agreed and again else "the owner says no"


def turn(text):
    return f"<narrative>{text}</narrative><state_update_json>{{}}</state_update_json>"


def calling(name, **arguments):
    return Reply(tool_calls=[{"name": name, "arguments": arguments}])


def thread(name="thread"):
    return {"configurable": {"thread_id": name}}


def said(*texts):
    return {"messages": [HumanMessage(text) for text in texts]}


def parent(state=Talk, **nodes):
    graph = StateGraph(state)
    for name, node in nodes.items():
        graph.add_node(name, node).add_edge(START, name)
    return graph


@pytest.fixture
async def souls(tmp_path):
    async with open_souls(data_dir=tmp_path) as context:
        yield context


@pytest.fixture
async def door(tmp_path, stub):
    """Souls with a tool that asks before it acts."""
    options = {"llm_base_url": stub.base_url, "llm_model": "stub"}
    async with open_souls(data_dir=tmp_path, tools=[open_door], **options) as context:
        yield context


async def transcript(context, session_id):
    async with context.stores.read() as tx:
        return [(message.role, message.content) for message in await tx.messages.recent(session_id, 100)]


@pytest.mark.parametrize("durability", ["exit", "async", "sync"])
async def test_a_soul_adds_one_message_a_turn_whatever_the_parents_durability(souls, durability):
    soul_id = await soul_named(souls, "Luna")
    graph = parent(soul=soul_node(souls, soul_id)).compile(checkpointer=(saver := InMemorySaver()))
    for text in ("Hello!", "I am so happy today"):
        state = await graph.ainvoke(said(text), thread(), durability=durability)
    assert {kept.config["configurable"]["checkpoint_ns"] for kept in saver.list(thread())} == {""}
    assert [message.type for message in state["messages"]] == ["human", "ai", "human", "ai"]
    assert state["soul"]["reply"] == state["messages"][-1].text
    assert len(await transcript(souls, f"thread:{soul_id}")) == 4


async def test_the_bare_turn_is_a_subgraph_of_any_durability_if_it_is_resumable(souls):
    class Bare(TurnInput, TurnOutput):
        pass

    graph = StateGraph(Bare, Context).add_node("soul", turn_graph(resumable=True).compile()).add_edge(START, "soul")
    ids = {"soul_id": await soul_named(souls, "Luna"), "session_id": "sess_1", "input_id": "in_1", "turn_id": "turn_1"}
    heard = {"utterance": {"text": "Hello!", "user_id": "ann", **ids}}
    compiled = graph.compile(checkpointer=InMemorySaver())
    state = await compiled.ainvoke(heard, thread(), context=souls, durability="sync")
    assert state["answer"]["reply"]


async def test_without_a_checkpointer_it_is_the_usual_conversation(souls):
    soul_id = await soul_named(souls, "Luna")
    graph = parent(soul=soul_node(souls, soul_id)).compile()
    first, second = [await graph.ainvoke(said(text)) for text in ("Hello!", "Hello again!")]
    assert first["soul"]["session_id"] == second["soul"]["session_id"]
    assert len(await transcript(souls, first["soul"]["session_id"])) == 4


async def test_a_parent_may_keep_its_messages_as_it_likes_and_need_no_key_for_the_answer(souls):
    class Bare(TypedDict):
        messages: Annotated[list[Any], add]

    node = soul_node(souls, await soul_named(souls, "Luna"))
    state = await parent(Bare, soul=node).compile().ainvoke(said("Hello!"))
    assert state.keys() == {"messages"}
    assert [type(message) for message in state["messages"]] == [HumanMessage, AIMessage]


async def test_words_and_events_stream_through_the_parent(souls):
    graph = parent(soul=soul_node(souls, await soul_named(souls, "Luna"))).compile()
    options = {"stream_mode": ["messages", "custom", "values"], "subgraphs": True, "version": "v2"}
    parts = [part async for part in graph.astream(said("Hello, how are you?"), **options)]
    reply = parts[-1]["data"]["messages"][-1]
    chunks = [part["data"][0] for part in parts if part["type"] == "messages"]
    assert len(chunks) > 1
    assert {chunk.id for chunk in chunks} == {reply.id}
    assert "".join(chunk.text for chunk in chunks) == reply.text
    events = [part["data"] for part in parts if part["type"] == "custom"]
    assert [events[0]["event"], events[-1]["event"]] == ["emotion", "done"]
    assert "".join(event["data"]["text"] for event in events if event["event"] == "token") == reply.text


async def test_souls_side_by_side_hear_the_same_and_answer_for_themselves(souls):
    luna, sol = [await soul_named(souls, *who) for who in (("Luna", "INFP"), ("Sol", "ESTJ"))]
    nodes = {"luna": soul_node(souls, luna, name="luna"), "sol": soul_node(souls, sol, name="sol")}
    graph = parent(TwoSouls, **nodes).compile(checkpointer=InMemorySaver())
    state = await graph.ainvoke(said("I hate you, you are useless!"), thread())
    assert sorted(message.name for message in state["messages"][1:]) == ["luna", "sol"]
    assert (state["luna"]["soul_id"], state["sol"]["soul_id"]) == (luna, sol)
    assert state["luna"]["soul_emotion"]["p"] < state["sol"]["soul_emotion"]["p"]


async def test_the_same_message_is_answered_once(souls):
    soul_id = await soul_named(souls, "Luna")
    graph = parent(soul=soul_node(souls, soul_id)).compile()
    heard = {"messages": [HumanMessage("Hello!", id="in_1")]}
    first, second = [await graph.ainvoke(heard, thread()) for _ in range(2)]
    assert first["messages"] == second["messages"]
    assert len(await transcript(souls, f"thread:{soul_id}")) == 2


async def test_a_parent_without_a_human_message_or_a_soul_is_told_so(souls):
    with pytest.raises(InvalidInput, match="no human message"):
        await parent(soul=soul_node(souls, "soul_0")).compile().ainvoke({"messages": [AIMessage("hm")]})
    with pytest.raises(NotFound):
        await parent(soul=soul_node(souls, "soul_0")).compile().ainvoke(said("Hello!"))


async def test_a_soul_is_born_once_for_each_user(souls):
    luna = await soul_named(souls, "Luna")
    assert await soul_named(souls, "Luna") == luna
    assert await soul_named(souls, "Luna", user_id="ann") != luna


async def test_a_setting_that_there_is_not_is_refused():
    with pytest.raises(ConfigurationError, match="data_folder"):
        async with open_souls(data_folder="souls"):
            pass


async def test_two_tools_of_one_name_are_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="open_door"):
        async with open_souls(data_dir=tmp_path, tools=[open_door, open_door]):
            pass


async def test_interrupts_of_a_tool_reach_the_parent_and_the_turn_goes_on_where_it_was(door, stub, tmp_path):
    stub.script(calling("open_door", why="it rains"), Reply(text=turn("It is open.")))
    soul_id = await soul_named(door, "Luna")
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "parent.db")) as saver:
        graph = parent(soul=soul_node(door, soul_id)).compile(checkpointer=saver)
        asked = await graph.ainvoke(said("Let me in, please"), thread())
        assert [question.value for question in asked["__interrupt__"]] == ["may I open the door? it rains"]
        assert await transcript(door, f"thread:{soul_id}") == []
        graph = parent(soul=soul_node(door, soul_id)).compile(checkpointer=saver)  # as after a restart
        asked = await graph.ainvoke(Command(resume=True), thread())
        assert [question.value for question in asked["__interrupt__"]] == ["really?"]
        state = await graph.ainvoke(Command(resume=True), thread())
    assert [message.text for message in state["messages"]] == ["Let me in, please", "It is open."]
    assert state["soul"]["user_emotion"]
    assert await transcript(door, f"thread:{soul_id}") == [("user", "Let me in, please"), ("assistant", "It is open.")]
    turns = [request.body["messages"] for request in stub.requests if "Let me in" in request.raw.decode()]
    assert turns[1][-1]["content"] == "the door is open"
    async with door.stores.read() as tx:
        assert (await tx.souls.get(soul_id)).turns == 1


async def test_two_souls_may_wait_for_answers_at_the_same_time(door, stub):
    stub.default = calling("open_door", why="it rains")
    nodes = {name: soul_node(door, await soul_named(door, name), name=name) for name in ("luna", "sol")}
    graph = parent(TwoSouls, **nodes).compile(checkpointer=InMemorySaver())
    asked = await graph.ainvoke(said("Let me in, please"), thread())
    stub.default = Reply(text=turn("No."))
    answers = {question.id: False for question in asked["__interrupt__"]}
    assert len(answers) == 2
    state = await graph.ainvoke(Command(resume=answers), thread())
    assert [message.text for message in state["messages"][1:]] == ["No.", "No."]


async def test_a_gated_tool_is_refused_while_the_soul_is_too_upset(tmp_path, stub):
    used = []

    @tool
    def lamp(on: bool) -> str:
        """Switch the lamp."""
        used.append(on)
        return "done"

    options = {"llm_base_url": stub.base_url, "llm_model": "stub"}
    async with open_souls(data_dir=tmp_path, tools=[gated(lamp)], **options) as souls:
        graph = parent(soul=soul_node(souls, await soul_named(souls, "Luna"))).compile()
        stub.script(calling("lamp", on=True), Reply(text=turn("It is on.")))
        await graph.ainvoke(said("Please switch on the lamp"))
        assert used == [True]
        stub.default = Reply(text=turn("Hm."))
        for _ in range(4):
            state = await graph.ainvoke(said("你真没用！我讨厌你，气死我了，滚！"))
        assert state["soul"]["exec_mode"] == "blocked"
        stub.script(calling("lamp", on=False), Reply(text=turn("No.")))
        await graph.ainvoke(said("Switch off the lamp"))
    assert used == [True]
