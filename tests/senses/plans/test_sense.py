"""The sense of plans: rules propose, its head decides, and both read what a whole sentence means."""

from datetime import datetime

import numpy as np
import pytest

from soulgraph.errors import ConfigurationError, SenseUnavailable
from soulgraph.senses.embedding.local import open_local_embedder
from soulgraph.senses.plans import sense as module
from soulgraph.senses.plans.features import BUCKETS, features_of
from soulgraph.senses.plans.finding import Heard
from soulgraph.senses.plans.sense import PlanSense

NOW = datetime(2026, 3, 10, 15, 30)  # a Tuesday


@pytest.fixture
async def sense():
    async with open_local_embedder() as embedder:
        yield PlanSense(embedder)


PAIRS = {
    "the whole country's match is nobody's plan": (
        "our lads play their cup match on Saturday and I'm in goal",
        "the national team plays in Madrid on Saturday, the papers say",
    ),
    "what was called off is none": ("后天我去面试，紧张死了", "后天的面试我推了，那公司口碑太差"),
    "the lines of a play are none": ("明天会去看牙", "明天会更好，这首歌谁唱的"),
    "an eclipse is none": ("下周四有期中考试", "下周四有月全食，凌晨两点开始"),
}


@pytest.mark.parametrize("name", PAIRS)
async def test_what_lies_ahead_is_told_from_what_only_sounds_like_it(name, sense):
    ahead, other = PAIRS[name]
    assert [plan.kind for plan in await sense.find(ahead, NOW)] == ["plan"]
    assert await sense.find(other, NOW) == []


async def test_a_reminder_in_words_that_no_rule_knows_is_found(sense):
    text = "Before I leave at seven tomorrow say the word charger, I'll know what it means"
    assert [plan.kind for plan in await PlanSense().find(text, NOW)] != ["reminder"]
    assert [(plan.kind, plan.begins) for plan in await sense.find(text, NOW)] == [
        ("reminder", datetime(2026, 3, 11, 7))
    ]


async def test_the_second_of_two_reminders_is_one_too(sense):
    found = await sense.find("Remind me at 4 pm to call the roofer and at 5:30 pm to switch off the cooker", NOW)
    assert [(plan.kind, plan.content) for plan in found] == [
        ("reminder", "call the roofer"),
        ("reminder", "switch off the cooker"),
    ]


async def test_without_times_nothing_is_embedded():
    class Unused:
        name = "unused"

        async def embed(self, texts):
            raise AssertionError(texts)

    assert await PlanSense(Unused()).find("I like rainy days", NOW) == []


async def test_when_the_encoder_does_not_answer_the_rules_decide():
    class Away:
        name = "away"

        async def embed(self, texts):
            raise SenseUnavailable("no answer")

    [plan] = await PlanSense(Away()).find("remind me at seven to take my pills", NOW)
    assert (plan.kind, plan.content) == ("reminder", "take my pills")


def test_the_speaker_is_part_of_every_feature():
    said = [Heard.of("I'll wake you tomorrow at seven", NOW, speaker) for speaker in ("user", "soul")]
    first, second = (features_of(heard, heard.clauses[0], None).dense() for heard in said)
    assert first.shape == (BUCKETS,)
    assert not np.allclose(first, second)


def test_a_head_for_other_features_is_refused(monkeypatch):
    monkeypatch.setattr(module, "INPUTS", module.INPUTS + 1)
    module._head.cache_clear()
    with pytest.raises(ConfigurationError, match="train it anew"):
        module._head("user")
    module._head.cache_clear()
