"""The examples in the description of the API: every request gives what is described, and every answer was given once.

To renew the answers in `api/examples.json`, delete the file.
"""

import asyncio
import json
import re

import pytest

from soulgraph.api import contract
from soulgraph.tests.api.scenario import calls, living
from soulgraph.tests.declared import complaint, description, resolved
from soulgraph.tests.stub_speech import StubSpeech

MAX_ITEMS = 2
MAX_TEXT = 600
UNASKED = [("POST /v1/audio/speech", f"audio/{kind}") for kind in ("aac", "flac", "mpeg", "ogg", "pcm")]
# A picture or an archive is no text to be shown.
UNSHOWN = ("image/png", "application/gzip", "audio/wav")


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Of every call and media type: the status and the body of the answer, with the ids of the examples."""
    return asyncio.run(lived(tmp_path_factory.mktemp("scenario")))


async def lived(folder):
    async with StubSpeech() as speech:
        services = {
            "stt_base_url": speech.base_url,
            "stt_model": "w",
            "tts_base_url": speech.base_url,
            "tts_model": "t",
        }
        async with living(folder, **services) as scenario:
            return {
                (call, media_type): (answer.status_code, as_text(scenario, answer, media_type))
                for (call, media_type), answer in (await scenario.live()).items()
            }


def as_text(scenario, answer, media_type):
    return "" if media_type in UNSHOWN else scenario.as_example(answer.content.decode())


def test_every_example_of_a_request_gives_the_success_that_is_described(answers):
    assert {call for call, _ in answers} == {*calls()}
    for (call, media_type), (status, body) in answers.items():
        assert 200 <= status < 300, (call, body)
        assert complaint(*call.split(), status, media_type, body) is None, call
        assert "event: error" not in body, call


def test_every_media_type_of_a_success_is_answered(answers):
    described = {
        (f"{method.upper()} {path}", media_type)
        for path, methods in description()["paths"].items()
        for method, operation in methods.items()
        for status, response in operation["responses"].items()
        for media_type in response.get("content", {})
        if status.startswith("2")
    }
    assert described - answers.keys() == {
        ("GET /v1/characters/{character_id}/card", "image/png"),
        ("GET /v1/characters/{character_id}/images/{name}", "image/jpeg"),
        ("GET /v1/characters/{character_id}/images/{name}", "image/webp"),
        *UNASKED,
    }


def shown(body, media_type):
    """An answer as it stands in the description: real, but not all of a long one."""
    if media_type != "application/json":
        lines = body.split("\n")
        return "\n".join(lines[:6]) + "\n" if len(lines) > 6 else body
    return shortened(json.loads(body))


def shortened(value):
    if isinstance(value, dict):
        return {name: shortened(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [shortened(inner) for inner in value[:MAX_ITEMS]]
    return f"{value[: MAX_TEXT - 1]}…" if isinstance(value, str) and len(value) > MAX_TEXT else value


def test_every_answer_in_the_description_is_as_one_that_is_given(answers):
    given = {
        f"{call} {media_type}": shown(body, media_type) for (call, media_type), (_, body) in answers.items() if body
    }
    if not contract.EXAMPLES.exists():
        contract.EXAMPLES.write_text(json.dumps(given, ensure_ascii=False, indent=1, sort_keys=True) + "\n", "utf-8")
        pytest.fail("the answers were written anew: look at them, then keep them")
    kept = json.loads(contract.EXAMPLES.read_text("utf-8"))
    assert kept.keys() == given.keys()
    for call, example in kept.items():
        assert differences(example, given[call]) == [], call


def test_every_example_of_an_answer_is_as_its_schema_says():
    for path, operations in description()["paths"].items():
        for method, operation in operations.items():
            for status, media_type, example in examples_in(operation):
                assert complaint(method.upper(), path, int(status), media_type, example) is None, (method, path)


def examples_in(operation):
    for status, response in operation["responses"].items():
        for media_type, content in response.get("content", {}).items():
            named = [resolved(one)["value"] for one in content.get("examples", {}).values()]
            for example in [content["example"]] if "example" in content else named:
                yield status, media_type, json.dumps(example)


def test_no_answer_in_the_description_tells_of_the_machine_it_was_given_on():
    kept = contract.EXAMPLES.read_text("utf-8")
    assert re.findall(r"/tmp/|/home/|/root/|/work/|site-packages|pytest", kept) == []
    assert {*re.findall(r"https?://([^/\s\"`:]+)", kept)} <= {"127.0.0.1", "localhost"}
    assert {*re.findall(r"\b\d+\.\d+\.\d+\.\d+\b", kept)} <= {"127.0.0.1"}


def differences(one, other, place=""):
    """Where two answers are not of the same shape; what is null or empty in one may be anything in the other."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return [f"{place}: {sorted(one.keys() ^ other.keys())}"]
        return [flaw for name in one for flaw in differences(one[name], other[name], name)]
    if isinstance(one, list) and isinstance(other, list):
        return differences(one[0], other[0], place) if one and other else []
    same = one is None or other is None or kind_of(one) is kind_of(other)
    return [] if same else [f"{place}: {one!r} and {other!r}"]


def kind_of(value):
    return float if type(value) is int else type(value)
