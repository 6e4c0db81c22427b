import asyncio
import json
from dataclasses import replace

import pytest

from soulgraph.nodes import remind
from soulgraph.nodes.remind import reminder_text
from soulgraph.settings import Settings
from soulgraph.tests.nodes.homes import open_stub_voice
from soulgraph.tests.nodes.samples import HURT, small_context
from soulgraph.tests.stores.samples import NOW, plan, session, soul
from soulgraph.tests.stub_openai import Reply, StubOpenAI
from soulgraph.voices.factory import open_voice


async def offline(who=None, **fields):
    async with open_voice(Settings.load().llm, ()) as voice:
        context = small_context(voice=voice, clock=lambda: NOW + 60)
        return await reminder_text(plan(**fields), who or soul(), session(), {}, context)


async def test_without_a_model_a_prepared_line_names_it_to_the_person():
    assert "take your pills" in await offline(content="take my pills")
    assert "吃药" in await offline(content="吃药")


async def test_a_sore_soul_says_it_all_the_same():
    assert "take the pills" in await offline(replace(soul(), emotion_state=HURT))


async def test_what_is_late_says_when_it_was_due():
    assert "It was due" in await offline(due=NOW - 7200)
    assert "It was due" not in await offline()


async def said_by(answer, monkeypatch=None):
    async with StubOpenAI(answer) as stub, open_stub_voice(stub) as voice:
        context = small_context(voice=voice, clock=lambda: NOW + 60)
        return await reminder_text(plan(), soul(), session(), {}, context)


@pytest.mark.parametrize(
    ("text", "kept"),
    [("Pills, now.", True), ("It is time.", False), ("现在吃药吧 pills", False), ("soul_1, the pills!", False)],
)
async def test_a_model_is_believed_if_it_names_it_to_the_person_in_their_language(text, kept):
    assert (await said_by(Reply(text=json.dumps({"text": text}))) == text) is kept


async def test_a_slow_model_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(remind, "MODEL_TIMEOUT_S", 0.05)

    async def sleeping(*_, **__):
        await asyncio.sleep(5)

    monkeypatch.setattr(remind, "run_task", sleeping)
    assert "take the pills" in await said_by(Reply(text="{}"))
