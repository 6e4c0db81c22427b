import json

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from soulgraph.nodes.state import TurnEvent
from soulgraph.nodes.streaming import emit, hide_messages
from soulgraph.tests.nodes.samples import small_runtime

HELLO = AIMessage("hello", id="a")


def test_an_event_is_a_dict_for_those_who_read_the_stream_and_a_type_of_its_own_for_us():
    events = []
    emit("token", {"text": "你"}, small_runtime(events))
    [event] = events
    assert isinstance(event, TurnEvent)
    assert (event.event, event.data) == ("token", {"text": "你"})
    assert event == {"event": "token", "data": {"text": "你"}}
    assert json.loads(json.dumps(event)) == event


async def streamed(node):
    graph = StateGraph(MessagesState).add_node("speak", node).add_edge(START, "speak").compile()
    parts = [part async for part in graph.astream({"messages": []}, stream_mode=["messages", "values"], version="v2")]
    last = [part["data"] for part in parts if part["type"] == "values"][-1]
    return [part for part in parts if part["type"] == "messages"], last["messages"]


async def test_messages_of_an_update_would_be_streamed_and_hidden_ones_are_stored_all_the_same():
    for update, shown in (
        ({"messages": [HELLO]}, 1),
        (hide_messages({"messages": [HELLO]}), 0),
        (hide_messages(Command(update={"messages": [HELLO]})), 0),
    ):

        async def speak(state, update=update):
            return update

        messages, stored = await streamed(speak)
        assert (len(messages), stored) == (shown, [HELLO])
