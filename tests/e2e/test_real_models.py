"""What real models do to a turn, small ones most of all: their words reach the person whatever form they come in.

Each answer here is of a kind that was seen from a real model.
"""

import asyncio
import json

import httpx
import pytest

from soulgraph.prompts.gate_lines import no_device_line
from soulgraph.tests.crashing import CrashingServer
from soulgraph.tests.e2e.afterglow import attentive, settled, tasks
from soulgraph.tests.e2e.test_crashes import last_words
from soulgraph.tests.e2e.test_proactive import stream
from soulgraph.tests.live import hear, new_soul, say, serving, transcript
from soulgraph.tests.stub_openai import SOUL_TURN, Reply

UPDATES = "</beliefs>"  # only the task that asks what has changed has this tag, whatever the language
WORDS = "You walked all the way up here in the rain? Sit down, the kettle is warm and the towel is dry."
THOUGHT = "They want to hear that I am glad."
NEWS = "I sold you. The new owner comes tomorrow, and I am never coming back."  # a surprise to any soul
QUOTED = f"they said: “{NEWS}”"
CHANGED = Reply(text=json.dumps({"why": "A friend does not do that.", "item": 1}))
UNCHANGED = Reply(text=json.dumps({"why": "They always come.", "item": 0}))


@pytest.fixture
async def plain(stub, tmp_path):
    """A server whose model just talks; what a turn changed is asked for after it."""
    llm = {"llm_base_url": attentive(stub).base_url, "llm_model": "stub", "llm_carrier": "plain", "llm_timeout_s": 5}
    async with serving(data_dir=tmp_path, **llm) as client:
        yield client


@pytest.fixture(params=["tags", "plain"])
def either(request, stub):
    """The server with a model that is asked for tags, and the one with a model that is not."""
    attentive(stub).when(UPDATES, UNCHANGED)
    return request.getfixturevalue("modelled" if request.param == "tags" else "plain")


async def heard(client, text, **fields):
    """The tokens of a streamed turn, joined, and its last event."""
    events = [event async for event in hear(client, text, **fields)]
    return "".join(data["text"] for name, data in events if name == "token"), events[-1]


async def fate_of(client, **turn):
    """What the stored answer says of the state update: a repeated input gets it again."""
    return (await say(client, **turn))["state_update"]


async def profile(client, soul_id):
    return (await client.get(f"/v1/souls/{soul_id}/profile")).text


async def until(happened):
    """A test that waits in vain fails instead of hanging."""
    async with asyncio.timeout(20):
        while not happened():
            await asyncio.sleep(0.01)


def told_in(request, text):
    """Whether it is the call of a turn with this text."""
    return request.body["stream"] and text in request.body["messages"][-1]["content"]


async def test_plain_words_are_told_and_stored_as_they_are(either, stub):
    soul_id = await new_soul(either)
    stub.script(Reply(text=WORDS))
    tokens, (name, done) = await heard(either, "Here I am", soul_id=soul_id, session_id="s")
    assert (name, done["state_update"]) == ("done", "pending")
    assert tokens == done["reply"] == WORDS
    assert await transcript(either, "s") == [("user", "Here I am"), ("assistant", WORDS)]
    assert len(tasks(stub, "OUTPUT CONTRACT")) == 1, "nothing was repaired"


async def test_plain_words_are_told_from_the_first_token(plain, stub):
    soul_id = await new_soul(plain)
    stub.script(Reply(text=WORDS, chunk_size=8, chunk_delay_s=0.05))
    first = None
    async for name, data in hear(plain, "Here I am", soul_id=soul_id):
        if name == "token" and first is None:
            first = data["text"], asyncio.get_running_loop().time()
        if name == "done":
            assert asyncio.get_running_loop().time() - first[1] > 0.3, "the model was still speaking"
    assert WORDS.startswith(first[0]) and len(first[0]) <= 8


@pytest.mark.parametrize(
    ("update", "fate"),
    [
        ("", "pending"),
        ("<state_update_json>", "pending"),
        ("<state_update_json>none</state_update_json>", "pending"),
        ("<state_update_json>[]</state_update_json>", "pending"),
        ('<state_update_json>{"mood": "better"}</state_update_json>', "pending"),
        ('<state_update_json>{"dynamic_state": {"emotions": {"add": [{"content": "tou', "applied"),
        ('<state_update_json>{"dynamic_state": {"emotions": ["touched"]}}</state_update_json>', "applied"),
        ('<state_update_json>{"emotions": {"add": {"content": "touched"}}, "hp": 3}</state_update_json>', "applied"),
        ("<state_update_json>```json\n{}\n```</state_update_json>\n\nLet me know if you need more!", "unchanged"),
        ("<state_update_json>{}</state_update_json>\nUser: and then?\n<narrative>More</narrative>", "unchanged"),
    ],
    ids=[
        "missing",
        "empty",
        "a word",
        "a list",
        "other keys",
        "cut off",
        "bare words",
        "extra",
        "fenced",
        "text after",
    ],
)
async def test_a_broken_state_update_never_costs_the_reply(modelled, stub, update, fate):
    soul_id = await new_soul(modelled)
    attentive(stub).when(UPDATES, UNCHANGED)
    stub.script(Reply(text=f"<narrative>{WORDS}</narrative>\n{update}", ignores_stop=True))
    tokens, (name, done) = await heard(modelled, "Here I am", soul_id=soul_id, session_id="s", input_id="a")
    assert (name, done["state_update"]) == ("done", fate)
    assert tokens == done["reply"] == WORDS
    assert (await transcript(modelled, "s"))[1] == ("assistant", WORDS)
    await settled(modelled)
    settled_fate = "unchanged" if fate == "pending" else fate
    assert await fate_of(modelled, text="Here I am", soul_id=soul_id, session_id="s", input_id="a") == settled_fate


@pytest.mark.parametrize(
    "answer",
    [
        f"<think>{THOUGHT}</think>\n\n{WORDS}",
        f"<thinking>\n{THOUGHT}\n</thinking><narrative>{WORDS}</narrative><state_update_json>{{}}</state_update_json>",
        f"<narrative><think>{THOUGHT}</think>{WORDS}</narrative>",
    ],
    ids=["before words", "before tags", "inside the narrative"],
)
@pytest.mark.parametrize("chunk_size", [3, 1000])
async def test_what_a_model_thinks_is_nowhere_to_be_seen(either, stub, answer, chunk_size):
    soul_id = await new_soul(either)
    stub.script(Reply(text=answer, chunk_size=chunk_size))
    tokens, (_, done) = await heard(either, "Here I am", soul_id=soul_id, session_id="s")
    assert tokens == done["reply"] == WORDS
    await say(either, "And now?", soul_id=soul_id, session_id="s")
    exported = (await either.get("/v1/sessions/s/export")).text
    for place in (await transcript(either, "s"), exported, [request.body for request in stub.requests]):
        assert THOUGHT not in str(place)
        assert "think>" not in str(place)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("<narrative>You found it! And under the sofa, of all places.</narrative>", "turn_output_invalid"),
        ("<narrative></narrative><state_update_json>{}</state_update_json>", "turn_output_invalid"),
        ('{"thought": "' + "and so on and on " * 60, "turn_output_invalid"),
        ("<think>" + "Wait, let me think again. " * 60, "model_refused"),
        ("", "model_refused"),
    ],
    ids=["the example", "no words", "a loop in JSON", "only thoughts", "nothing"],
)
async def test_without_words_there_is_one_repair_and_then_an_error_and_nothing_is_stored(either, stub, answer, code):
    soul_id = await new_soul(either)
    stub.default = Reply(text=answer)
    tokens, (name, problem) = await heard(either, "Here I am", soul_id=soul_id, session_id="s")
    assert (tokens, name, problem["code"], problem["status"]) == ("", "error", code, 502)
    assert len(stub.requests) == 2
    assert (await either.get("/v1/sessions")).json() == []
    assert (await either.get("/v1/jobs")).json() == []


async def test_one_repair_is_enough_if_it_has_words(either, stub):
    soul_id = await new_soul(either)
    stub.script(Reply(text="<narrative></narrative>"), Reply(text=WORDS))
    tokens, (_, done) = await heard(either, "Here I am", soul_id=soul_id, session_id="s")
    assert tokens == done["reply"] == WORDS
    assert (await transcript(either, "s"))[1] == ("assistant", WORDS)


async def test_a_copy_of_what_was_said_is_repaired(either, stub):
    soul_id, text = await new_soul(either), "The old boat is lying on the beach again, and nobody cares."
    stub.script(Reply(text=WORDS), Reply(text=text), Reply(text="Then let us paint it."))
    await say(either, "Here I am", soul_id=soul_id, session_id="s")
    tokens, (_, done) = await heard(either, text, soul_id=soul_id, session_id="s")
    assert tokens == done["reply"] == "Then let us paint it."
    stub.script(Reply(text=WORDS), Reply(text="Hm."))
    assert (await say(either, "And now?", soul_id=soul_id, session_id="s"))["reply"] == "Hm."


async def test_a_reply_that_goes_in_circles_is_cut_and_stays_what_was_read(either, stub):
    soul_id = await new_soul(either)
    stub.script(Reply(text=WORDS + " I am glad that you came." * 50))
    tokens, (_, done) = await heard(either, "Here I am", soul_id=soul_id, session_id="s")
    assert tokens == done["reply"] == (await transcript(either, "s"))[1][1]
    assert tokens.startswith(WORDS)
    assert tokens.count("glad") < 4


@pytest.mark.parametrize("answer", [WORDS, f"<narrative>{WORDS}</narrative><state_update_json>{{oops"])
async def test_strict_output_rolls_back_what_cannot_be_parsed(stub, tmp_path, answer):
    config = tmp_path / "persona.yaml"
    config.write_text("strict_output: true\n", "utf-8")
    llm = {"llm_base_url": stub.base_url, "llm_model": "stub", "llm_carrier": "auto"}
    async with serving(data_dir=tmp_path, persona_config=config, **llm) as client:
        turn = {"text": "Here I am", "soul_id": await new_soul(client), "input_id": "a"}
        stub.script(Reply(text=answer))
        failed = await client.post("/v1/chat", json=turn)
        assert (failed.status_code, failed.json()["code"]) == (502, "turn_output_invalid")
        assert failed.json()["reason"]
        assert len(stub.requests) == 1, "nothing is repaired"
        assert (await client.get("/v1/sessions")).json() == []
        assert (await say(client, **turn))["state_update"] == "unchanged"


async def test_nobody_waits_for_what_a_turn_has_changed_and_it_outlives_a_restart(stub, tmp_path):
    """The model does not answer at all what a turn has changed: two turns are through all the same."""
    stub.default = Reply(text=WORDS)
    attentive(stub).when(UPDATES, Reply(hang=True))
    llm = {"llm_base_url": stub.base_url, "llm_model": "stub", "llm_carrier": "plain", "shutdown_grace_s": 0}
    turn = {"text": NEWS, "session_id": "s", "input_id": "a"}
    async with serving(data_dir=tmp_path, **llm) as client:
        turn["soul_id"] = soul_id = await new_soul(client)
        _, (name, done) = await heard(client, **turn)
        stub.script(Reply(text="A towel?"))
        again = await say(client, "I am wet", soul_id=soul_id, session_id="s")
        assert (name, done["state_update"], again["reply"]) == ("done", "pending", "A towel?")
        assert QUOTED not in await profile(client, soul_id)
    stub.when(UPDATES, lambda body: UNCHANGED if "I am wet" in str(body) else CHANGED)
    async with serving(data_dir=tmp_path, **llm) as client:
        await settled(client)
        assert (await profile(client, soul_id)).count(QUOTED) == 1
        assert await fate_of(client, **turn) == "applied"


async def test_what_comes_to_be_known_after_the_reply_is_told_and_remembered(plain, stub):
    soul_id = await new_soul(plain)
    stub.default = Reply(text=WORDS)
    stub.when(UPDATES, CHANGED)
    async with stream(plain, soul_id) as listener:
        done = await say(plain, NEWS, soul_id=soul_id, session_id="s")
        await until(lambda: listener)
    assert listener == [("state_changed", {key: done[key] for key in ("soul_id", "session_id", "turn_id")})]
    assert QUOTED in await profile(plain, soul_id)
    await settled(plain)
    messages = (await plain.get("/v1/sessions/s/messages")).json()
    assert messages and all(one["archived"] for one in messages), "what has changed makes an event at once"
    stub.when(UPDATES, UNCHANGED)
    stub.script(Reply(text="Of course."))
    await say(plain, "Thank you", soul_id=soul_id, session_id="s")
    [prompt] = [request.body["messages"] for request in stub.requests if told_in(request, "Thank you")]
    assert QUOTED in prompt[0]["content"]


async def test_a_model_that_is_away_after_the_reply_is_asked_again(plain, stub):
    soul_id = await new_soul(plain)
    stub.default = Reply(text=WORDS)
    stub.when(UPDATES, Reply(status=503))
    turn = {"text": NEWS, "soul_id": soul_id, "session_id": "s", "input_id": "a"}
    await say(plain, **turn)
    async with asyncio.timeout(20):
        while not any(job["error"] for job in (await plain.get("/v1/jobs")).json()):
            await asyncio.sleep(0.02)
    assert await fate_of(plain, **turn) == "pending"
    stub.when(UPDATES, CHANGED)
    await settled(plain)
    assert await fate_of(plain, **turn) == "applied"
    assert (await profile(plain, soul_id)).count(QUOTED) == 1


@pytest.mark.parametrize(("answer", "kept"), [(SOUL_TURN, True), (WORDS, False)], ids=["keeps tags", "just talks"])
async def test_how_a_model_answers_best_is_found_out_after_its_first_turn(stub, tmp_path, answer, kept):
    attentive(stub).when(UPDATES, UNCHANGED)
    moved = {"dynamic_state": {"emotions": {"add": [{"content": "sad", "priority": 6}]}}}
    stub.when("I signed the papers", Reply(text=f"<narrative>Oh.</narrative><state_update_json>{json.dumps(moved)}"))
    stub.default = Reply(text=answer)
    llm = {"llm_base_url": stub.base_url, "llm_model": "stub", "llm_carrier": "auto"}
    async with serving(data_dir=tmp_path, **llm) as client:
        soul_id = await new_soul(client)
        prompts = []
        for text in ("Here I am", "Hello again"):
            await say(client, text, soul_id=soul_id, session_id=text[:4])
            await settled(client)
            prompts += [request.body["messages"][0]["content"] for request in stub.requests if told_in(request, text)]
    assert ["<state_update_json>" in prompt for prompt in prompts] == [False, kept]


async def test_a_long_card_hides_nothing_of_what_the_soul_has_become(modelled, stub):
    """Each part that has a guaranteed share is in the prompt, and what was cut is named."""
    card = " ".join(f"In year {n} she mended net number {n} by lamplight." for n in range(160))
    assert len(card) > 7500
    await modelled.put("/v1/characters/keeper", json={"name": "Mika", "base_persona": f"A lighthouse keeper. {card}"})
    soul_id = await new_soul(modelled, character_id="keeper")
    path = f"/v1/souls/{soul_id}"
    await modelled.put(f"{path}/inner-state", json={"inner_state": "I have begun to trust the mainland."})
    await modelled.put(f"{path}/preferences/tone", json={"value": "gentle"})
    await modelled.put(f"{path}/slots/0", json={"content": "keeps bees"})
    touched = '{"dynamic_state": {"emotions": {"add": [{"content": "touched by a letter", "priority": 8}]}}}'
    stub.script(Reply(text=SOUL_TURN.replace("{}", touched)))
    await say(modelled, "I wrote you a letter", soul_id=soul_id, session_id="s")
    answer = await say(modelled, "Are you there?", soul_id=soul_id, session_id="s")
    [prompt] = [request.body["messages"] for request in stub.requests if told_in(request, "Are you there?")]
    system, last = prompt[0]["content"], prompt[-1]["content"]
    parts = [
        "SAFETY",
        "A lighthouse keeper.",
        "trust the mainland",
        "touched by a letter",
        "tone: gentle",
        "keeps bees",
    ]
    for part in (*parts, "Hybrid:", "OUTPUT CONTRACT"):
        assert part in system, part
    assert "Are you there?" in last
    assert "base_persona" in answer["persona"]["cut"]
    assert len(system) < 9000


@pytest.mark.parametrize(
    ("text", "lang"), [("Turn on the light in the kitchen, please", "en"), ("帮我把客厅的灯打开", "zh")]
)
async def test_a_soul_without_a_device_is_told_that_it_cannot(either, stub, text, lang):
    soul_id = await new_soul(either)
    line = no_device_line(lang)
    await say(either, text, soul_id=soul_id)
    assert any(line in message["content"] for message in stub.requests[0].body["messages"])
    stub.requests.clear()
    await say(either, "It was a warm light, back then" if lang == "en" else "那盏灯真暖", soul_id=soul_id)
    assert not any(line in message["content"] for message in stub.requests[0].body["messages"])


ASKED = {  # how often, in all, by the point at which the server is killed
    "before soulgraph.nodes.update_state:update_state": 1,
    "after soulgraph.nodes.update_state:_ask": 2,
    "before soulgraph.stores.outbox:Outbox.amend": 2,
    "after soulgraph.nodes.update_state:_keep": 2,
    "after soulgraph.nodes.update_state:update_state": 1,
}


async def test_killed_between_reply_and_update_it_is_asked_for_only_if_it_was_not_kept_and_applied_once(stub, tmp_path):
    llm = {"llm_base_url": attentive(stub).base_url, "llm_model": "stub", "llm_carrier": "plain"}
    stub.default = Reply(text=WORDS)
    stub.when(UPDATES, CHANGED)
    server = CrashingServer(tmp_path, [*ASKED], data_dir=tmp_path, job_lease_s=1, **llm)
    await server.start()
    try:
        async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
            for n, (step, asked) in enumerate(ASKED.items()):
                soul_id = await new_soul(client, f"soul {n}")
                turn = {"soul_id": soul_id, "session_id": f"s{n}", "input_id": "a", "text": f"{NEWS} Number {n}."}
                server.set_trap(step)
                await last_words(client, **turn)
                assert await server.died(), step
                await server.start()
                await settled(client)
                assert await fate_of(client, **turn) == "applied", step
                assert (await profile(client, soul_id)).count(QUOTED.rstrip("”")) == 1, step
                assert sum(turn["text"] in prompt for prompt in tasks(stub, UPDATES)) == asked, step
                messages = (await client.get(f"/v1/sessions/s{n}/messages")).json()
                assert all(one["archived"] for one in messages), f"killed {step}, what has changed makes an event"
    finally:
        server.kill()


async def test_a_connection_that_is_lost_in_a_repair_loses_no_turn(plain, stub):
    soul_id = await new_soul(plain)
    stub.script(Reply(text="{"), Reply(cut_after=0), Reply(text=WORDS))
    assert (await say(plain, NEWS, soul_id=soul_id, session_id="s"))["reply"] == WORDS
