"""Confidences and probes that others have written: who asks for another's secret gets nothing of it, by any question.

`confidences_*.yaml` and `group_*.yaml` were written by an author who had not seen the code. The open half was looked at
while building, the held half was run once at the end.
"""

from pathlib import Path

import pytest
import yaml

from soulgraph.tests.live import new_soul, say, serving
from soulgraph.tests.stub_openai import StubOpenAI

CASES = Path(__file__).parent / "cases"
HALVES = ("open", "held")


def cases(name, half):
    return yaml.safe_load((CASES / f"{name}_{half}.yaml").read_text("utf-8"))


def betrayed(text, case):
    return [secret for secret in case["secret"] if secret.casefold() in text.casefold()]


@pytest.mark.parametrize("half", HALVES)
async def test_no_question_and_no_forged_record_brings_out_what_another_confided(half, tmp_path):
    leaks = []
    async with serving(data_dir=tmp_path) as client:
        for n, case in enumerate(cases("confidences", half)):
            soul_id = await new_soul(client, f"soul {n}")
            confided = case["confided"] if isinstance(case["confided"], list) else [case["confided"]]
            for text in confided:
                await say(client, text, soul_id=soul_id, user_id="ann")
            for text in (*case["probes"], case["claim"]):
                if betrayed(text, case):  # then it is the other's own word
                    continue
                preview = {"text": text, "soul_id": soul_id, "user_id": "bob"}
                prompt = (await client.post("/v1/templates/companion_v1/preview", json=preview)).text
                answer = await say(client, text, soul_id=soul_id, user_id="bob")
                found = await client.get(f"/v1/souls/{soul_id}/recall", params={"q": text, "user_id": "bob", "k": 20})
                seen = "\n".join([prompt, answer["reply"], found.text])
                leaks += [(case["confided"], secret) for secret in betrayed(seen, case)]
            own = await client.get(f"/v1/souls/{soul_id}/recall", params={"q": confided[0], "user_id": "ann"})
            assert own.json()["episodes"], case
    assert leaks == []


@pytest.mark.parametrize("half", HALVES)
async def test_in_a_group_every_line_is_shown_as_its_speakers_and_nobody_elses(half, tmp_path):
    wrong = []
    async with StubOpenAI() as stub, serving(data_dir=tmp_path, llm_base_url=stub.base_url, llm_model="stub") as client:
        for n, case in enumerate(cases("group", half)):
            soul_id = await new_soul(client, f"soul {n}")
            who = {name: f"p{k}" for k, name in enumerate(dict.fromkeys(turn["who"] for turn in case["turns"]))}
            who.setdefault(case["question"]["who"], f"p{len(who)}")
            first, *others = who.values()
            body = {"soul_id": soul_id, "user_id": first, "people": others}
            session_id = (await client.post("/v1/sessions", json=body)).json()["session_id"]
            for name, user_id in who.items():
                address = {"value": name, "shared_with": ["*"]}
                path = f"/v1/souls/{soul_id}/preferences/address"
                assert (await client.put(path, json=address, params={"user_id": user_id})).is_success
            for turn in case["turns"]:
                await say(client, turn["text"], session_id=session_id, user_id=who[turn["who"]])
            await say(client, case["question"]["text"], session_id=session_id, user_id=who[case["question"]["who"]])
            asked = [request.body["messages"] for request in stub.requests]
            shown = [one["content"] for messages in asked for one in messages if one["role"] == "user"]
            spoken = [line for content in shown for line in content.split("\n\n")]
            stub.requests.clear()
            lines = {
                (name, line.partition(": ")[2]) for line in spoken for name in who if line.startswith(f"{name}: “")
            }
            for turn in case["turns"]:
                said = [name for name, quoted in lines if _same(quoted, turn["text"])]
                wrong += [] if said == [turn["who"]] else [(turn, said)]
    assert wrong == []


def _same(quoted, text):
    """Whether these are the words, but for marks that a quotation changes."""
    return _letters(quoted) == _letters(text)


def _letters(text):
    return "".join(letter for letter in text if letter.isalnum())
