"""What other programs may do with souls through MCP, as their key lets them: talk, feel, recall and remember."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from soulgraph.api.access import Caller
from soulgraph.api.chat import ChatRequest, begin
from soulgraph.api.emotion import present_emotion
from soulgraph.api.fields import Id, Text
from soulgraph.api.services import Services
from soulgraph.errors import InvalidInput, NotFound, RequestError
from soulgraph.memory.event_source import RecalledEvent
from soulgraph.memory.facts import RecalledFact
from soulgraph.memory.recall import Recalled
from soulgraph.memory.summaries import RecalledSummary
from soulgraph.runtime.turn_log import StreamedEvent
from soulgraph.senses.facts.admission import instructs
from soulgraph.senses.grounding import is_small_talk, restates
from soulgraph.senses.tokenizer import terms_of
from soulgraph.soul.timestamps import iso
from soulgraph.soul.validation import DROP_NUL, NOT_BLANK, NUMBER
from soulgraph.stores.records import Json, Slot, Soul

_MAX_SOULS = 200
_MAX_KEPT = 5

SoulName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=128, strip_whitespace=True),
    Field(description="its name or id, as `list_souls` tells them"),
]
Fact = Annotated[str, StringConstraints(min_length=1, max_length=500, strip_whitespace=True), NOT_BLANK, DROP_NUL]
Tell = Callable[[str], Awaitable[None]]
"""Hears how far a call is."""


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Nothing(Arguments):
    pass


class OfSoul(Arguments):
    soul: SoulName


class Talk(OfSoul):
    text: Annotated[Text, DROP_NUL] = Field(description="what is said to it")
    conversation: Id | None = Field(None, description="an id of your own; without it the usual conversation goes on")
    input_id: Id | None = Field(None, description="the same id again gives the same answer and is not said twice")


class Recall(OfSoul):
    q: Annotated[Text, Field(max_length=1000), DROP_NUL] = Field(description="what to look for, in plain words")
    k: Annotated[int, NUMBER] = Field(5, ge=1, le=20, description="how many of each kind")


class Remember(OfSoul):
    fact: Fact = Field(description="the fact in one sentence, about the person for whom you speak")


class Outcome(NamedTuple):
    """For programs, and for models that read text."""

    structured: Json
    text: str


@dataclass(frozen=True, slots=True)
class Souls:
    """The souls as one caller may use them; `caller` is always one person."""

    services: Services
    caller: Caller

    @property
    def person(self) -> str:
        return self.caller.one_person

    async def listed(self, wanted: Nothing, tell: Tell) -> Outcome:
        souls = (await self._visible())[:_MAX_SOULS]
        told = [{**_identity(soul), "mood": present_emotion(soul, self.services)["mood"]} for soul in souls]
        lines = [f"{one['name']} ({one['soul_id']}), {one['mbti_type']}: feels {one['mood']['en']}" for one in told]
        return Outcome({"souls": told}, "\n".join(lines) or "there are no souls yet: their owner makes one")

    async def talk(self, wanted: Talk, tell: Tell) -> Outcome:
        soul = await self._soul(wanted.soul)
        request = ChatRequest(
            soul_id=soul.soul_id, text=wanted.text, session_id=wanted.conversation, input_id=wanted.input_id
        )
        try:
            turn = await begin(request, self.caller, self.services)
        except NotFound as error:
            if error.extra.get("kind") != "session":
                raise
            why = f"conversation: {wanted.conversation!r} is not yours: choose another id, or leave it out"
            raise InvalidInput(why) from error
        async for event in turn.events(self.services.wait_intervals):
            if said := _progress(event, soul.name):
                await tell(said)
        answer = await turn.answer()
        felt = await self._felt(soul.soul_id)
        told = {
            "reply": answer["reply"],
            "mood": felt["mood"],
            "gate": felt["gate"],
            **{name: answer[name] for name in ("session_id", "turn_id", "soul_id")},
        }
        return Outcome(told, answer["reply"])

    async def feel(self, wanted: OfSoul, tell: Tell) -> Outcome:
        soul = await self._soul(wanted.soul)
        felt = await self._felt(soul.soul_id)
        why = felt["gate"]["why"]
        acts = f"It would not act now: {why['en']}." if why else "It would act now."
        return Outcome({**_identity(soul), **felt}, f"{soul.name} feels {felt['mood']['en']}. {acts}")

    async def recall(self, wanted: Recall, tell: Tell) -> Outcome:
        soul = await self._soul(wanted.soul)
        memory = self.services.context.memory.recall
        audience = frozenset({self.person})
        async with self.services.stores.read() as tx:
            slots = await tx.slots.known_to(soul.soul_id, audience, self.person)
        found = Recalled()
        if memory is not None:
            found = await memory.recall(soul.soul_id, wanted.q, wanted.k, count_use=False, audience=audience)
        told = {"kept": _matching(wanted.q, slots), **_recalled(found)}
        lines = [line for kind in told.values() for line in map(_line, kind)]
        problem = {"problem": found.problem} if found.problem else {}
        return Outcome({**told, **problem}, "\n".join(lines) or found.problem or "nothing found")

    async def remember(self, wanted: Remember, tell: Tell) -> Outcome:
        soul = await self._soul(wanted.soul)
        if instructs(wanted.fact) or is_small_talk(wanted.fact):
            raise InvalidInput("fact: this is no fact about the person: say in one sentence what is so")
        async with self.services.stores.write() as tx:
            await tx.souls.lock(soul.soul_id)
            known = await tx.slots.of(soul.soul_id, self.person)
            if restates(wanted.fact, [slot.content for slot in known]):
                return Outcome({"kept": False, "fact": wanted.fact}, f"{soul.name} knows this already")
            free = await tx.slots.free(soul.soul_id, self.person)
            if not free:
                raise RequestError("its memory of this person is full: empty a slot first, in the studio or over HTTP")
            await tx.slots.put(Slot(soul.soul_id, self.person, free[0], wanted.fact, self.services.now(), ()))
        return Outcome({"kept": True, "fact": wanted.fact, "slot": free[0]}, f"{soul.name} remembers: {wanted.fact}")

    async def _visible(self) -> list[Soul]:
        async with self.services.stores.read() as tx:
            return [soul for soul in await tx.souls.all() if self.caller.sees_soul(soul.soul_id)]

    async def _soul(self, name_or_id: str) -> Soul:
        """The soul of this id, or of this name if only one has it. Raises InvalidInput that says what to do."""
        visible = await self._visible()
        found = [soul for soul in visible if name_or_id in (soul.soul_id, soul.name)]
        if not found:
            raise InvalidInput(f"soul: there is no soul {name_or_id!r}: `list_souls` tells which there are")
        if len(found) > 1:
            ids = ", ".join(soul.soul_id for soul in found)
            raise InvalidInput(f"soul: {len(found)} souls are called {name_or_id!r}: use an id ({ids})")
        return found[0]

    async def _felt(self, soul_id: str) -> Json:
        async with self.services.stores.read() as tx:
            report = present_emotion(await self.caller.soul(tx, soul_id), self.services)
        gate = report["gate"]
        figures = {name: gate[name] for name in ("exec_mode", "exec_probability", "why", "helps")}
        return {"mood": report["mood"], "gate": figures}


def _identity(soul: Soul) -> Json:
    return {"soul_id": soul.soul_id, "name": soul.name, "mbti_type": soul.mbti_type}


def _progress(event: StreamedEvent | None, name: str) -> str | None:
    """What a waiting program is told of a turn; the words themselves come with the answer."""
    if event is None or event.event == "waiting":
        return f"{name} is thinking"
    if event.event == "emotion":
        return f"{name} has heard it"
    if event.event == "tool":
        return f"{name} uses {event.data['name']}"
    return f"{name} speaks" if event.event == "token" else None


def _matching(q: str, slots: Sequence[Slot]) -> list[Json]:
    """Kept facts that share words with the question, the closest first."""
    terms = {*terms_of(q)}
    shared = sorted(((len(terms & {*terms_of(slot.content)}), slot) for slot in slots), key=lambda one: -one[0])
    return [{"text": slot.content, "about": slot.user_id} for count, slot in shared if count][:_MAX_KEPT]


def _recalled(found: Recalled) -> dict[str, list[Json]]:
    facts = [one.fact for one in found.of(RecalledFact)]
    messages = [one.message for one in found.episodes]
    return {
        "facts": [{"text": fact.content, "about": fact.user_id, "at": iso(fact.said_at)} for fact in facts],
        "episodes": [
            {
                "text": one.content,
                "speaker": "soul" if one.role == "assistant" else one.user_id,
                "at": iso(one.created_at),
            }
            for one in messages
        ],
        "summaries": [{"text": one.text, "at": iso(one.created_at)} for one in found.of(RecalledSummary)],
        "events": [{"text": one.event.summary} for one in found.of(RecalledEvent)],
    }


def _line(found: Json) -> str:
    when = f"{found['at'][:10]} " if "at" in found else ""
    who = found.get("speaker") or found.get("about")
    return f"- {when}{who}: {found['text']}" if who else f"- {when}{found['text']}"


@dataclass(frozen=True, slots=True)
class SoulTool:
    name: str
    title: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Souls, Any, Tell], Awaitable[Outcome]]
    only_looks: bool = True
    repeatable: bool = True


TOOLS = (
    SoulTool("list_souls", "List souls", "Which souls you may talk to, and how each feels.", Nothing, Souls.listed),
    SoulTool(
        "talk",
        "Talk to a soul",
        "Say something to a soul and get its reply. It has feelings and a memory of its own: what you say moves its "
        "mood and is remembered. Pass on what a person says in their own words.",
        Talk,
        Souls.talk,
        only_looks=False,
        repeatable=False,
    ),
    SoulTool(
        "feel",
        "How a soul feels",
        "Its mood in words, and whether it would act now and if not, why. It changes nothing.",
        OfSoul,
        Souls.feel,
    ),
    SoulTool(
        "recall",
        "What a soul remembers",
        "Look up what the soul remembers of the person for whom you speak: facts, what was said, how talks went.",
        Recall,
        Souls.recall,
    ),
    SoulTool(
        "remember",
        "Have a soul remember",
        "Have the soul keep a lasting fact about the person for whom you speak. Nobody else is told of it.",
        Remember,
        Souls.remember,
        only_looks=False,
    ),
)
