"""Every endpoint called as its own examples say, one after the other: what one makes, the next one finds.

Ids that the server chooses differ from those in the examples: they are exchanged on the way in and on the way out.
"""

import io
import json
import re
from contextlib import asynccontextmanager
from zipfile import ZipFile

from PIL import Image

from soulgraph.api.examples import KEYS, SOUL
from soulgraph.memory.events import Event, Pattern
from soulgraph.runtime.ports import open_stores
from soulgraph.server import create_app
from soulgraph.settings import Settings
from soulgraph.soul.people import EVERYONE
from soulgraph.tests.declared import description, resolved
from soulgraph.tests.e2e.afterglow import settled
from soulgraph.tests.live import served
from soulgraph.tests.voices.audio_samples import made

# What makes the things of the examples; everything else is called afterwards, and what deletes comes last.
MAKING = """
POST /v1/characters
POST /v1/backgrounds
POST /v1/templates
PUT /v1/characters/{character_id}/images/{name}
POST /v1/souls
PUT /v1/terminals/{terminal_id}/intent-catalog
POST /v1/souls/select
POST /v1/chat
PUT /v1/souls/{soul_id}/slots/{n}
PUT /v1/souls/{soul_id}/preferences/{key}
PUT /v1/souls/{soul_id}/relations/{user_id}
POST /v1/souls/{soul_id}/plans
PUT /v1/souls/{soul_id}/inner-state
POST /v1/sessions/{session_id}/update-memory
POST /v1/keys
""".strip().splitlines()
# The file of a soul is read once the soul itself is gone.
LAST = ["DELETE /v1/souls/{soul_id}", "POST /v1/souls/import"]
ORDER = ("GET", "POST", "PUT", "PATCH", "DELETE")
# In which field of its answer an endpoint names what it has made.
NAMED = {
    "POST /v1/souls": ("soul_id", SOUL),
    "POST /v1/chat": ("turn_id", KEYS["turn"]),
    "POST /v1/souls/{soul_id}/plans": ("plan_id", KEYS["plan"]),
    "POST /v1/keys": ("key_id", KEYS["key"]),
}
STREAM = "GET /v1/souls/{soul_id}/stream"
# Those that answer otherwise if they are asked to.
ASKED = {
    "POST /v1/chat": {"json": {"stream": True, "input_id": "m-18"}},
    "POST /v1/chat/completions": {"json": {"stream": True}},
    "POST /v1/souls/{soul_id}/import-chats": {"params": {"dry_run": True}},
    "POST /v1/responses": {"json": {"stream": True}},
    "POST /mcp": {"extra": {"Accept": "text/event-stream"}},
    "POST /v1/audio/speech": {"json": {"stream_format": "sse"}},
    "POST /v1/audio/transcriptions": {"json": {"response_format": "text"}},
}
REVISION = "0230e77beb58768c"
DATA_DIR = "/var/lib/soulgraph"
JOB = {"last_message": 2, "archive_now": False, "state_changes": [], "soul_turn": 1}


def calls():
    """Every endpoint as `METHOD path`, in the order in which they are called."""
    described = [f"{method.upper()} {path}" for path, methods in description()["paths"].items() for method in methods]
    rest = [call for call in described if call not in (*MAKING, *LAST)]
    return [*MAKING, *sorted(rest, key=_when), *LAST]


def _when(call):
    """What is deleted is deleted last, from the inside out; events go with the session that they tell of."""
    method, path = call.split()
    deletes = method == "DELETE"
    return ORDER.index(method), deletes and not path.startswith("/v1/events"), -len(path) if deletes else 0


def picture(kind):
    file = io.BytesIO()
    Image.new("RGB", (8, 8), "#334").save(file, kind)
    return file.getvalue()


FORM = "multipart/form-data"
BOUNDARY = "----recording"


def form(**fields):
    """A form with a recording and these fields."""
    wav = made("wav 16000 0.2").decode("latin-1")
    parts = [f'Content-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n{wav}']
    parts += [f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}' for name, value in fields.items()]
    return "".join(f"--{BOUNDARY}\r\n{part}\r\n" for part in parts).encode("latin-1") + f"--{BOUNDARY}--\r\n".encode()


def pack():
    """An archive with a face."""
    file = io.BytesIO()
    with ZipFile(file, "w") as archive:
        archive.writestr("joy.png", picture("PNG"))
    return file.getvalue()


FILES = {
    "image/png": picture("PNG"),
    "image/jpeg": picture("JPEG"),
    "image/webp": picture("WEBP"),
    "application/zip": pack(),
}


class Scenario:
    """A server in which the examples are lived through; `answers` are those to every call, by their media type."""

    def __init__(self, client, services):
        self.client = client
        self.services = services
        self.ids = {}
        self.numbers = {}
        self.answers = {}

    def real(self, text):
        return exchanged(text, self.ids)

    def as_example(self, text):
        return exchanged(text, {real: example for example, real in self.ids.items()})

    async def live(self):
        await self.make()
        for call in calls()[len(MAKING) :]:
            await self.call(call)
        return self.answers

    async def make(self):
        """Make the things of the examples, and those that come about by themselves."""
        for call in MAKING:
            await self.call(call)
        soul_id = self.ids[SOUL]
        told = {"soul_id": soul_id, "session_id": "first", "text": "I live in Bristol."}
        assert (await self.client.post("/v1/chat", json=told)).is_success
        await settled(self.client)
        [fact, *_] = (await self.client.get(f"/v1/souls/{soul_id}/facts")).json()
        self.ids[KEYS["fact"]] = fact["fact_id"]
        await self.remember(soul_id)
        await self.retire(f"/v1/souls/{soul_id}/profile")
        async with self.services.stores.write() as tx:
            await tx.outbox.add("afterglow", soul_id, "first", "turn_that_failed", JOB, 0.0)
            job = await tx.outbox.claim(0.0, 1.0)
            await tx.outbox.mark_dead(job, "the model cannot be reached")
        self.numbers["job_id"] = job.job_id

    async def remember(self, soul_id):
        pattern = Pattern("someone is wary", "proof is shown", "surprise", "trust begins")
        words = "A storm at sea is waited out together.", pattern, {"state_changes": []}, "They watch the lamp."
        event = Event(KEYS["event"], *words, "2026-11-16T04:45:14Z")
        await self.services.context.memory.events.add(event, "first", soul_id, [1, 2], EVERYONE)

    async def retire(self, profile):
        faint = {"emotions": {"items": [{"content": "a little tired", "priority": 1}]}}
        assert (await self.client.put(profile, json={"dynamic_state": faint})).is_success
        [entry] = (await self.client.post(f"{profile}/maintain")).json()["retired"]
        self.ids[KEYS["retired item"]] = entry["id"]

    async def call(self, call):
        """Call an endpoint by its example, and otherwise if it may be asked otherwise."""
        answer = await self.answer(call)
        if call in NAMED and answer.is_success:
            field, example = NAMED[call]
            self.ids[example] = answer.json()[field]
        if call in ASKED:
            await self.answer(call, **ASKED[call])

    async def answer(self, call, params=None, json=None, extra=None):
        method, path = call.split()
        operation = description()["paths"][path][method.lower()]
        required = [parameter for parameter in operation.get("parameters", ()) if parameter["required"]]
        values = {one["name"]: example_of(one) for one in required} | self.numbers
        query = {one["name"]: self.real(str(values[one["name"]])) for one in required if one["in"] == "query"}
        where = self.real(re.sub(r"\{(\w+)\}", lambda found: str(values[found[1]]), path))
        content, headers = await self.body(call, operation, json or {})
        request = self.client.build_request(
            method, where, params=query | (params or {}), content=content, headers=headers | (extra or {})
        )
        answer = await self.client.send(request, stream=call == STREAM)
        if call == STREAM:
            await read_first_event(answer)
        self.answers[call, answer.headers.get("content-type", "").partition(";")[0]] = answer
        return answer

    async def body(self, call, operation, changes):
        """The bytes of the body and the header that says what they are."""
        if "requestBody" not in operation:
            return None, {}
        [media_type, described], *_ = operation["requestBody"]["content"].items()
        headers = {"content-type": media_type}
        if call == LAST[-1]:
            return self.answers["GET /v1/souls/{soul_id}/export", "application/x-ndjson"].content, headers
        if media_type == FORM:
            return form(**changes), {"content-type": f"{FORM}; boundary={BOUNDARY}"}
        if media_type in FILES:
            return FILES[media_type], headers
        example = example_of(described)
        if isinstance(example, dict):
            await self.note_revision(call, example)
            example = json.dumps({**example, **changes})
        return self.real(example if isinstance(example, str) else json.dumps(example)).encode(), headers

    async def note_revision(self, call, example):
        if example.get("revision") == REVISION:
            path = call.split()[1].format(**{f"{kind}_id": key for kind, key in KEYS.items()})
            self.ids[REVISION] = (await self.client.get(path)).json()["revision"]


async def read_first_event(answer):
    """Read a stream that has no end up to its first event."""
    text = ""
    async for line in answer.aiter_lines():
        text += f"{line}\n"
        if not line and "event:" in text:
            break
    answer._content = text.encode()
    await answer.aclose()


@asynccontextmanager
async def living(folder, **settings):
    """A scenario on a server that has its database in this folder; an owner calls."""
    settings = Settings.load(**{"data_dir": folder, "mqtt_url": "none", **settings})
    async with open_stores(settings) as stores, stores.write() as tx:
        key = await tx.keys.create("owner", "owner", 1.0)
    app = create_app(settings)
    async with served(app) as client:
        client.headers["Authorization"] = f"Bearer {key}"
        scenario = Scenario(client, app.state.services)
        scenario.ids[DATA_DIR] = str(folder)
        yield scenario


def example_of(described):
    """The example of a parameter or a body."""
    schema = resolved(described["schema"])
    return described["example"] if "example" in described else schema["examples"][0]


def exchanged(text, ids):
    for one, other in ids.items():
        text = text.replace(one, other)
    return text
