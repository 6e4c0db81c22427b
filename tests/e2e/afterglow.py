"""What tests of the work after a turn share: a model that does its tasks, and waiting until all is done."""

import asyncio
import json

from soulgraph.tests.stub_openai import Reply, StubOpenAI

EXTRACTS, REFLECTS = "EventExtract", "Reflection"  # the names of the schemas, whatever the language
TOPICS = (
    "a debt that was paid late",
    "whales seen from a pier",
    "bread that did not rise",
    "the first snow of a long winter",
    "an exam failed twice",
    "a piano out of tune",
    "an old dog that would not eat",
    "moving to another city",
    "a letter never sent",
    "the night shift at a hospital",
    "a garden lost to frost",
    "learning to swim as an adult",
)


def event(topic: str, **more) -> Reply:
    told = {
        "summary": f"Somebody told of {topic}",
        "pattern": {"precondition": topic, "trigger": topic, "reaction": "listening", "impact": "ease"},
        "impact": {"state_changes": []},
        "narrative_fragment": "They sat together.",
    }
    return Reply(text=json.dumps(told | more))


def about(body) -> Reply:
    """An event on the topic whose number the messages name."""
    said = body["messages"][0]["content"].partition("<messages>")[2].partition("</messages>")[0]
    topic = next((topic for n, topic in enumerate(TOPICS) if f"topic {n:02d}" in said), "the weather")
    return event(topic)


def reflection(words: str = "I keep thinking of what they told me.", slots=()) -> Reply:
    return Reply(text=json.dumps({"inner_state": words, "slots": list(slots)}))


def attentive(stub: StubOpenAI) -> StubOpenAI:
    stub.when(EXTRACTS, about)
    stub.when(REFLECTS, reflection())
    return stub


def tasks(stub: StubOpenAI, words: str) -> list[str]:
    """What the model was asked in tasks of this kind."""
    bodies = [request.body for request in stub.requests if words.encode() in request.raw]
    return [body["messages"][0]["content"] for body in bodies]


async def settled(client) -> None:
    """Wait until no job is left to be done."""
    for _ in range(600):
        jobs = (await client.get("/v1/jobs")).json()
        if all(job["status"] in ("done", "dead") for job in jobs):
            return
        await asyncio.sleep(0.05)
    raise TimeoutError(f"still to be done: {jobs}")
