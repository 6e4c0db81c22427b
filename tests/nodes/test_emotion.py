import asyncio

import pytest

from soulgraph.errors import SenseUnavailable
from soulgraph.nodes.context import Senses
from soulgraph.nodes.emotion import UNKNOWN, emotion
from soulgraph.senses.emotion.lexical import LexiconRecogniser
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.soul.emotions import UserEmotion
from soulgraph.tests.nodes.samples import Unused, small_runtime, utterance

JOY = UserEmotion("joy", 0.7, 0.5, 0.2, 0.8, 0.9)


class Recogniser:
    """Answers joy after a while, or fails."""

    def __init__(self, after_s=0.0, error=None):
        self.after_s, self.error, self.heard = after_s, error, []

    async def recognise(self, text):
        self.heard.append(text)
        await asyncio.sleep(self.after_s)
        if self.error:
            raise self.error
        return JOY


async def felt(recogniser):
    senses = Senses(recogniser, Unused("intents"))
    return await emotion({"utterance": utterance("太好了")}, small_runtime(senses=senses))


async def test_what_the_recogniser_hears_is_taken_as_it_is():
    recogniser = Recogniser()
    assert (await felt(recogniser))["user_emotion"] == JOY
    assert recogniser.heard == ["太好了"]


@pytest.mark.parametrize(
    "recogniser", [Recogniser(error=SenseUnavailable("down")), Recogniser(after_s=60)], ids=["fails", "dawdles"]
)
async def test_a_recogniser_that_fails_or_dawdles_leaves_the_soul_unmoved_and_is_reported(recogniser):
    async with asyncio.timeout(2):
        result = await felt(recogniser)
    assert result["user_emotion"] == UNKNOWN
    assert (UNKNOWN.emotion, UNKNOWN.intensity) == ("neutral", 0.0)


async def test_a_mistake_of_ours_is_not_hidden_as_neutral():
    with pytest.raises(ZeroDivisionError):
        await felt(Recogniser(error=ZeroDivisionError()))


class Embedder:
    """Keeps which texts it was told to expect."""

    def __init__(self):
        self.expected = []

    def expect(self, texts):
        self.expected += texts


async def test_with_a_terminal_the_intent_filter_expects_the_text_before_the_recogniser_hears_it():
    embedder, expected_by_then = Embedder(), []

    class Witness(Recogniser):
        async def recognise(self, text):
            expected_by_then.extend(embedder.expected)
            return await super().recognise(text)

    senses = Senses(Witness(), IntentFilter(embedder))
    await emotion({"utterance": utterance("太好了，开灯", terminal_id="robot-1")}, small_runtime(senses=senses))
    assert expected_by_then == ["太好了,开灯", "太好了,", "开灯"]


async def test_without_a_terminal_nothing_is_expected():
    embedder = Embedder()
    senses = Senses(LexiconRecogniser(), IntentFilter(embedder))
    result = await emotion({"utterance": utterance("我好开心", terminal_id=None)}, small_runtime(senses=senses))
    assert result["user_emotion"].emotion == "joy"
    assert embedder.expected == []
