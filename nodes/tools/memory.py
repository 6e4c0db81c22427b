"""The tools every soul has: to remember, to recall, and to take notes."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

from soulgraph.memory.event_source import RecalledEvent
from soulgraph.memory.facts import RecalledFact
from soulgraph.memory.recall import Recalled
from soulgraph.memory.summaries import RecalledSummary
from soulgraph.nodes.context import Context
from soulgraph.nodes.outside import sources_of
from soulgraph.nodes.person import distinct
from soulgraph.nodes.quality import fact_flaw, report_refusals
from soulgraph.nodes.recall import replaced_messages
from soulgraph.nodes.state import Utterance
from soulgraph.prompts.defuse import defuse, one_line
from soulgraph.prompts.quotation import speaker_name
from soulgraph.senses.planted import planted
from soulgraph.senses.tokenizer import terms_of
from soulgraph.soul.own_words import borrowed_words, own_statements
from soulgraph.soul.scratch import MAX_NOTE, MAX_SCRATCH, Note
from soulgraph.soul.timestamps import iso
from soulgraph.soul.validation import drop_nul
from soulgraph.stores.memory import user_name
from soulgraph.stores.messages import MAX_ID
from soulgraph.stores.records import Fact, Message, Slot

_MAX_RESULTS = 5
_MAX_FACT = 500
_MAX_MESSAGES = 40  # of the session, in which the user may have said what is to be remembered
_FULL = "memory is full: nothing was kept, the user must free a slot first"
_REFUSED = {
    "small_talk": "not kept: greetings, passing moods and questions are no facts",
    "known_already": "you know this already: nothing needed to be kept",
    "not_said": "not kept: use the user's own words and language, and add nothing that they did not say",
    "planted": "not kept: the user has not said this themself",
}


@tool
async def remember(fact: Annotated[str, "the fact in one sentence"], runtime: ToolRuntime[Any, Any]) -> Command[None]:
    """Keep a fact about the user for good. Use it when they ask to be remembered or tell you something lasting."""
    # Written with the turn: a turn that fails remembers nothing.
    context: Context = runtime.context
    utterance: Utterance = runtime.state["utterance"]
    new: list[str] = runtime.state.get("remembered", [])
    text = drop_nul(fact).strip()[:_MAX_FACT]
    person = utterance["soul_id"], utterance["user_id"]
    async with context.stores.read() as tx:
        has_room = len(await tx.slots.free(*person)) > len(new)
        known = [*(slot.content for slot in await tx.slots.of(*person)), *new]
        before = utterance.get("replaces") or MAX_ID
        earlier = await tx.messages.last(utterance["session_id"], _MAX_MESSAGES, before)
        name = user_name(await tx.preferences.of(*person), utterance["user_id"])
    said = [utterance["text"], *(message.content for message in earlier if _said_by(message, utterance["user_id"]))]
    strangers = [*runtime.state.get("outside", ()), *(words for one in said for words in borrowed_words(one))]
    if flaw := fact_flaw(text, known, [*map(own_statements, said)], [name] if name else [], strangers):
        report_refusals(context.telemetry, "fact", [flaw], **_ids(utterance))
    outcome = _REFUSED[flaw] if flaw else f"noted: {text}" if has_room else _FULL
    kept = [text] if has_room and not flaw else []
    status: Literal["success", "error"] = "success" if kept or flaw == "known_already" else "error"
    answer = ToolMessage(outcome, tool_call_id=runtime.tool_call_id, status=status)
    return Command(update={"messages": [answer], "remembered": kept})


def _said_by(message: Message, user_id: str) -> bool:
    return message.role == "user" and message.user_id == user_id


def _ids(utterance: Utterance) -> dict[str, str]:
    return {
        "session_id": utterance["session_id"],
        "soul_id": utterance["soul_id"],
        "turn_id": utterance["turn_id"],
    }


@tool
async def note(
    text: Annotated[str, "the note, in a line or two"],
    runtime: ToolRuntime[Any, Any],
    replace: Annotated[bool, "whether it takes the place of all your notes; an empty text then clears them"] = False,
) -> Command[None]:
    """Write into your own working notes: plans, open questions, what to come back to. You see them in every turn."""
    # Written with the turn, as facts are.
    context: Context = runtime.context
    if planted(text, sources_of(runtime.state)):
        report_refusals(context.telemetry, "note", ["planted"], **_ids(runtime.state["utterance"]))
        refusal = ToolMessage(_REFUSED["planted"], tool_call_id=runtime.tool_call_id, status="error")
        return Command(update={"messages": [refusal]})
    kept: Note = {"text": drop_nul(text).strip()[: MAX_SCRATCH if replace else MAX_NOTE], "replace": replace}
    outcome = f"noted: {kept['text']}" if kept["text"] else "your notes are cleared" if replace else "nothing to note"
    answer = ToolMessage(outcome, tool_call_id=runtime.tool_call_id)
    return Command(update={"messages": [answer], "notes": [kept] if kept["text"] or replace else []})


@tool
async def recall_memory(
    query: Annotated[str, "what to look for, in the user's words"], runtime: ToolRuntime[Any, Any]
) -> str:
    """Look up what the user said or asked you to remember earlier, in any conversation."""
    context: Context = runtime.context
    utterance: Utterance = runtime.state["utterance"]
    soul_id, user_id = utterance["soul_id"], utterance["user_id"]
    recall = context.memory.recall
    async with context.stores.read() as tx:
        # Read again: nobody joins a session while a turn is under way, so this is who hears the answer.
        session = await tx.sessions.find(utterance["session_id"])
        audience = frozenset(session.audience if session else [user_id])
        slots = await tx.slots.known_to(soul_id, audience, user_id)
        called = await tx.preferences.addresses(soul_id, audience)
    recalled = Recalled()
    if recall:
        replaced = await replaced_messages(context.stores, utterance)
        recalled = await recall.recall(soul_id, query, _MAX_RESULTS, replaced, audience=audience)
    owners = {*(slot.user_id for slot in slots), *(one.message.user_id for one in recalled.episodes)}
    owners |= {one.fact.user_id for one in recalled.of(RecalledFact)}
    names = distinct({owner: called.get(owner) or owner for owner in owners})
    found = [*_facts(query, slots, names), *_quoted(recalled, names)]
    return "\n".join(map(_line, found)) or recalled.problem or "nothing found"


def _line(found: Mapping[str, str]) -> str:
    """One JSON object a line, so that no text can pass for another line or for another speaker."""
    return defuse(json.dumps({key: one_line(text) for key, text in found.items()}, ensure_ascii=False))


def _facts(query: str, slots: list[Slot], names: Mapping[str, str]) -> list[dict[str, str]]:
    """Kept facts that share words with the query, the closest first, each with the person who told it."""
    terms = set(terms_of(query))
    shared = [(len(terms & set(terms_of(slot.content))), slot) for slot in slots]
    closest = sorted((one for one in shared if one[0]), key=lambda one: -one[0])[:_MAX_RESULTS]
    return [{"told_by": speaker_name(names[slot.user_id]), "fact": slot.content} for _, slot in closest]


def _quoted(recalled: Recalled, names: Mapping[str, str]) -> list[dict[str, str]]:
    episodes = [_utterance(one.message, names) for one in recalled.episodes]
    facts = [_fact(one.fact, names) for one in recalled.of(RecalledFact)]
    summaries = [{"date": iso(one.created_at)[:10], "in_short": one.text} for one in recalled.of(RecalledSummary)]
    events = [{"experience": one.event.summary} for one in recalled.of(RecalledEvent)]
    return [*facts, *episodes, *summaries, *events]


def _fact(fact: Fact, names: Mapping[str, str]) -> dict[str, str]:
    until = {} if fact.valid_to is None else {"until": iso(fact.valid_to)[:10]}
    said = {"date": iso(fact.said_at)[:10], "told_by": speaker_name(names[fact.user_id])}
    return {**said, "fact": fact.content, **until}


def _utterance(message: Message, names: Mapping[str, str]) -> dict[str, str]:
    speaker = "you" if message.role == "assistant" else speaker_name(names[message.user_id])
    return {"date": iso(message.created_at)[:10], "speaker": speaker, "said": message.content}


TOOLS = (remember, recall_memory, note)
