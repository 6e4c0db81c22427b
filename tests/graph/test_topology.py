"""The graphs as snapshots (to renew one, delete its file), and what a turn leaves in the checkpoint."""

import json
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from soulgraph.graph.afterglow import afterglow_graph
from soulgraph.graph.proactive import proactive_graph
from soulgraph.graph.tool_loop import tool_loop_graph
from soulgraph.graph.turn import turn_graph
from soulgraph.library.persona_config import PersonaConfig
from soulgraph.nodes.context import Context, Senses
from soulgraph.nodes.tools.memory import TOOLS
from soulgraph.runtime.ports import open_stores
from soulgraph.senses.emotion.lexical import LexiconRecogniser
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.settings import Settings
from soulgraph.stores.factories import new_soul
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.voice import Voice

SNAPSHOTS = Path(__file__).parent / "snapshots"
NOW = 1_800_000_000.0
CONFIG = {"configurable": {"thread_id": "sess_1"}}


def assert_as_before(name, text):
    snapshot = SNAPSHOTS / name
    if not snapshot.exists():
        snapshot.write_text(text, "utf-8")
        pytest.fail(f"{name} was written anew: look at it, then keep it")
    assert text == snapshot.read_text("utf-8")


def schema(described):
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


def test_the_nodes_of_every_graph():
    assert list(turn_graph().nodes) == [
        "emotion",
        "pad_update",
        "intent_filter",
        "gate",
        "intent_action",
        "recall",
        "persona_context",
        "tool_loop",
        "parse",
        "repair",
        "writeback",
    ]
    assert list(tool_loop_graph().nodes) == ["model", "tools"]
    after = ["update_state", "propose", "draw_facts", "archive", "reflect", "maintain", "suggest_update"]
    assert list(afterglow_graph().nodes) == after
    assert list(proactive_graph().nodes) == ["consider", "decide", "speak_up", "stay_silent"]


def test_the_turn_is_wired_as_before():
    assert_as_before("turn.mmd", turn_graph().compile().get_graph().draw_mermaid())


def test_the_tool_loop_is_wired_as_before():
    assert_as_before("tool_loop.mmd", tool_loop_graph().compile().get_graph().draw_mermaid())


def test_what_follows_a_turn_is_wired_as_before():
    assert_as_before("afterglow.mmd", afterglow_graph().compile().get_graph().draw_mermaid())


def test_speaking_of_its_own_accord_is_wired_as_before():
    assert_as_before("proactive.mmd", proactive_graph().compile().get_graph().draw_mermaid())


def test_the_turn_takes_and_gives_what_it_did_before():
    compiled = turn_graph().compile()
    assert_as_before("turn_input.json", schema(compiled.get_input_jsonschema()))
    assert_as_before("turn_output.json", schema(compiled.get_output_jsonschema()))


@pytest.fixture
async def context(sqlite_url):
    async with open_stores(Settings.load(database_url=sqlite_url)) as stores:
        yield Context(
            stores=stores,
            senses=Senses(LexiconRecogniser(), IntentFilter(None)),
            voice=Voice("offline", OfflineVoice(), TOOLS),
            read_persona=PersonaConfig,
            clock=lambda: NOW,
        )


async def born(context):
    async with context.stores.write() as tx:
        soul = await new_soul(tx, name="小满", mbti_type="INFJ", user_id="user_1", character_id=None, now=NOW)
        await tx.souls.add(soul)
    return soul.soul_id


async def turn(graph, context, soul_id, n, text="今天下雨了"):
    names = {"soul_id": soul_id, "session_id": "sess_1", "input_id": f"in_{n}", "turn_id": f"turn_{n}"}
    said = {"text": text, "user_id": "user_1", **names}
    return (await graph.ainvoke({"utterance": said}, CONFIG, context=context, durability="exit"))["answer"]


async def test_only_the_mode_and_the_turn_number_outlive_a_turn(context):
    soul_id, saver = await born(context), InMemorySaver()
    graph = turn_graph().compile(checkpointer=saver)
    answer = await turn(graph, context, soul_id, 1, "请用理性模式，记住我喜欢雨")
    kept = (await saver.aget_tuple(CONFIG)).checkpoint["channel_values"]
    assert answer["reply"]
    assert kept.keys() == {"persona_state", "turn"}
    assert (kept["turn"], kept["persona_state"]["mode"]) == (1, "rational")


async def test_the_checkpoint_does_not_grow_with_the_conversation(context):
    soul_id, saver = await born(context), InMemorySaver()
    graph = turn_graph().compile(checkpointer=saver)
    sizes = []
    for n in range(1, 21):
        await turn(graph, context, soul_id, n)
        checkpoint = (await saver.aget_tuple(CONFIG)).checkpoint
        sizes.append(len(json.dumps(checkpoint)))
    assert checkpoint["channel_values"]["turn"] == 20
    # Versions of channels are written with a random fraction, whose length varies a little.
    assert max(sizes) - min(sizes) < 300
