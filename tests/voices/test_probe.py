"""How a model answers best is found out by an ordinary turn and by one that should change the soul."""

from contextlib import asynccontextmanager

import pytest

from soulgraph.prompts.contract import STOP
from soulgraph.settings import Settings
from soulgraph.tests.stub_openai import SOUL_TURN, Reply, StubOpenAI
from soulgraph.voices.factory import open_voice
from soulgraph.voices.probe import learn_habits
from soulgraph.voices.reply_stream import ReplyStream
from soulgraph.voices.speech import speak
from soulgraph.voices.voice import Habits

PLAIN = Habits("plain", known=True)
TAGS = Habits("tags", known=True)
UNKNOWN = Habits("plain", known=False)
EXAMPLE = "<narrative>You found it! And under the sofa, of all places.</narrative><state_update_json>{}"
EXAMPLE_ZH = "<narrative>找到啦！居然在沙发底下。</narrative><state_update_json>{}"
UPDATE = '<state_update_json>{"dynamic_state": {"emotions": {"add": [{"content": "worried", "priority": 6}]}}}'
CHANGED = f"<narrative>Oh no.</narrative>{UPDATE}"
WRONG_SHAPE = '<state_update_json>{"emotions": {"content": "worried"}}'


@asynccontextmanager
async def stubbed(*replies, **settings):
    """A voice of a model that gives these replies, the last of them for good."""
    async with StubOpenAI(replies[-1]) as stub:
        stub.script(*replies)
        given = {"llm_base_url": stub.base_url, "llm_model": "m", **settings}
        async with open_voice(Settings.load(**given).llm, ()) as voice:
            yield voice, stub


async def learnt(*replies):
    async with stubbed(*replies) as (voice, _):
        await learn_habits(voice)
        return voice.habits


@pytest.mark.parametrize(
    ("answer", "habits"),
    [
        pytest.param(SOUL_TURN, TAGS, id="as asked"),
        pytest.param(SOUL_TURN.removesuffix("</state_update_json>"), TAGS, id="stopped at the end"),
        pytest.param(CHANGED, PLAIN, id="a change where nothing has changed"),
        pytest.param(f"<think>They are late.</think>{SOUL_TURN}", TAGS, id="after a thought"),
        pytest.param("Oh no, have some soup.", PLAIN, id="just talk"),
        pytest.param("<narrative>Oh no.</narrative>", PLAIN, id="no update"),
        pytest.param("Oh no.<state_update_json>{}", PLAIN, id="no narrative tag"),
        pytest.param("<narrative></narrative><state_update_json>{}", PLAIN, id="no words"),
        pytest.param(f"<narrative>Oh no.</narrative>{WRONG_SHAPE}", PLAIN, id="wrong shape"),
        pytest.param("<narrative>Oh no.</narrative><state_update_json>{'a': 1,}", PLAIN, id="no JSON"),
        pytest.param(EXAMPLE, PLAIN, id="our example"),
        pytest.param(EXAMPLE_ZH, PLAIN, id="our Chinese example"),
        pytest.param("", PLAIN, id="nothing"),
    ],
)
async def test_a_model_that_keeps_the_tags_is_told_from_one_that_just_talks(answer, habits):
    assert await learnt(Reply(text=answer), Reply(text=CHANGED)) == habits


@pytest.mark.parametrize("second", ["Oh no.", SOUL_TURN, f"<narrative>Oh no.</narrative>{WRONG_SHAPE}"])
async def test_a_surprise_must_be_told_in_the_tags(second):
    assert await learnt(Reply(text=SOUL_TURN), Reply(text=second)) == PLAIN


async def test_it_is_asked_once_in_each_language_as_a_turn_would_be():
    async with stubbed(Reply(text=SOUL_TURN), Reply(text=CHANGED)) as (voice, stub):
        assert voice.habits == UNKNOWN
        await learn_habits(voice)
        asked = [request.body for request in stub.requests]
    assert ["输出约定" in body["messages"][0]["content"] for body in asked] == [True, False]
    assert [body["stop"] for body in asked] == [STOP["tags"]] * 2


@pytest.mark.parametrize("replies", [[Reply(status=503)], [Reply(text=SOUL_TURN), Reply(status=401, text="bad key")]])
async def test_a_model_that_is_away_is_asked_again_later(replies, caplog):
    async with stubbed(*replies) as (voice, stub):
        await learn_habits(voice)
        assert voice.habits == UNKNOWN
        assert "m could not be probed" in caplog.text
        stub.script(Reply(text=SOUL_TURN), Reply(text=CHANGED))
        await learn_habits(voice)
        assert voice.habits == TAGS


@pytest.mark.parametrize("carrier", ["tags", "plain"])
async def test_a_carrier_that_is_set_is_known_from_the_start(carrier):
    async with stubbed(Reply(), llm_carrier=carrier) as (voice, _):
        assert voice.habits == Habits(carrier, known=True)


async def test_the_offline_voice_keeps_the_tags():
    async with open_voice(None, ()) as voice:
        assert voice.habits == TAGS


@pytest.mark.parametrize("carrier", ["tags", "plain"])
async def test_after_the_probe_a_model_that_begins_in_its_thoughts_shows_none_of_them(carrier):
    thoughts = "They came home late, and I should say something kind to them now. " * 4
    async with stubbed(Reply(text=f"{thoughts}</think>{SOUL_TURN}")) as (voice, _):
        await learn_habits(voice)
        shown = []
        for _ in range(2):
            await speak(voice.model, "hello", ReplyStream(carrier), shown.append)
    assert "".join(shown) == "I hear you." * 2


async def test_a_model_whose_name_says_that_it_thinks_shows_no_thought_even_in_its_first_answer():
    thoughts = "They came home late, and I should say something kind to them now. " * 4
    async with stubbed(Reply(text=f"{thoughts}</think>I hear you."), llm_model="deepseek-r1:8b") as (voice, _):
        shown = []
        await speak(voice.model, "hello", ReplyStream("plain"), shown.append)
    assert "".join(shown) == "I hear you."
