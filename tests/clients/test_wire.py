"""Single requests as programs send them are answered as OpenAI would, and say what a soul cannot do.

The cases were written by an author who had seen no code; what came of the first look is in `bench/RESULTS.md`.
"""

import json
from pathlib import Path

import pytest
import yaml

from soulgraph.tests.clients.replay import lively
from soulgraph.tests.live import new_soul, serving
from soulgraph.tests.stub_openai import StubOpenAI

CASES = [
    pytest.param(case, id=f"{name}: {case['name']}")
    for name in ("third", "fourth")
    for case in yaml.safe_load((Path(__file__).parent / f"wire_{name}.yaml").read_text("utf-8"))
]
TYPES = {"str": str, "int": int, "list": list, "dict": dict, "number": (int, float), "null": type(None), "bool": bool}


@pytest.fixture(autouse=True)
def migrated(sqlite_url):
    """The server finds its schema in `tmp_path`."""


async def asked(client, case):
    raw = case["raw"].encode(errors="surrogatepass") if "raw" in case else None
    return await client.request(
        case["method"], case["path"], headers=case.get("headers"), json=case.get("body"), content=raw
    )


def at(answer, path):
    for step in path.split("."):
        answer = answer[int(step)] if isinstance(answer, list) else answer[step]
    return answer


def has(answer, path):
    try:
        at(answer, path)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def flaws(response, turns, expect):
    """What is not as the case expects it."""
    statuses = expect["status"] if isinstance(expect["status"], list) else [expect["status"]]
    if response.status_code not in statuses:
        return [f"status {response.status_code}: {response.text[:300]}"]
    wrong = [f"turns: {turns}"] if expect.get("turns", turns) != turns else []
    ignored = [name.strip() for name in response.headers.get("x-soulgraph-ignored", "").split(",")]
    wrong += [f"not said to be ignored: {name}" for name in expect.get("ignored", ()) if name not in ignored]
    wrong += [f"said to be ignored: {name}" for name in expect.get("not_ignored", ()) if name in ignored]
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        return wrong + flaws_of_stream(response.text, expect)
    return wrong + flaws_of_answer(response.json(), expect)


def flaws_of_answer(answer, expect):
    wrong = ["it is no stream"] if expect.get("stream") else []
    if expect.get("error") and not {"message", "type", "param", "code"} <= answer.get("error", {}).keys():
        wrong.append(f"no error of OpenAI's form: {answer}")
    if "error_param" in expect and expect["error_param"] != answer["error"]["param"]:
        wrong.append(f"error of {answer['error']['param']}")
    wrong += [f"no {path}: {answer}" for path in expect.get("has", ()) if not has(answer, path)]
    same = expect.get("equals", {}).items()
    wrong += [f"{path} is not {value!r}" for path, value in same if not has(answer, path) or at(answer, path) != value]
    kinds = expect.get("types", {}).items()
    wrong += [
        f"{path} is no {kind}"
        for path, kind in kinds
        if not has(answer, path) or not isinstance(at(answer, path), tuple(TYPES[one] for one in kind.split("|")))
    ]
    return wrong


def flaws_of_stream(text, expect):
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    events = [json.loads(line) for line in lines if line != "[DONE]"]
    told = {event.get("type") for event in events}
    wrong = [f"no event {name}: {told}" for name in expect.get("events", ()) if name not in told]
    if not expect.get("stream"):
        wrong.append("it is a stream")
    is_chat = any(event.get("object") == "chat.completion.chunk" for event in events)
    if is_chat and lines[-1] != "[DONE]":
        wrong.append("it does not end with [DONE]")
    return wrong


@pytest.mark.parametrize("case", CASES)
async def test_a_request_is_answered_as_its_program_expects(case, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))  # no espeak-ng: nothing is configured
    async with StubOpenAI() as stub:
        lively(stub)
        async with serving(data_dir=tmp_path, llm_base_url=stub.base_url, llm_model="stub") as client:
            soul_id = await new_soul(client, "Mo")
            response = await asked(client, case)
            turns = (await client.get(f"/v1/souls/{soul_id}")).json()["turns"]
    assert flaws(response, turns, case["expect"]) == []
