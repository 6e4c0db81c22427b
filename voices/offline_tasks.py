"""Heuristics for the structured tasks: pure functions from a conversation to the output a model would give."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from soulgraph.soul.language import Lang
from soulgraph.voices.lines import pick
from soulgraph.voices.offline_parsing import introduced_name, is_question, lines, quoted, tone_of, topics_of
from soulgraph.voices.task_outputs import (
    INNER_STATE_LIMIT,
    SCORE,
    EventExtract,
    EvolvedPersona,
    Impulse,
    Reflection,
    Slot,
    Summary,
    TaskOutput,
)

FACT_SLOTS = range(10)

_MAX_FRAGMENT, _MAX_TITLE = 160, 24
_MAX_TOPICS = 2
_FACTS = {
    "likes": re.compile(
        r"我(?:最|很|特别|真的)?喜欢(?!你)([^\s，。！？；,.!?]{1,20})"
        r"|\bI (?:really )?(?:like|love) (?!you\b|it\b)([^,.!?]{2,40})"
    ),
    "home": re.compile(r"我(?:就)?住在?([^\s，。！？；,.!?]{2,20})|\bI live in ([^,.!?]{2,40})"),
}


class Message(TypedDict):
    role: str
    content: str


def extract_event(
    lang: Lang,
    messages: Sequence[Message],
    state_changes: Sequence[dict[str, str]],
    names: Sequence[str],
    remembered: Sequence[str],
) -> EventExtract:
    """What kind of conversation it was: its tone and topics, in prepared words. Nothing that was said is in it."""
    words = lines()[lang]["tasks"]
    event = words["event"]
    user_texts = _texts_by("user", messages)
    tone = tone_of(user_texts)
    topics = [event["topics"][topic] for topic in topics_of(user_texts)[:_MAX_TOPICS]] or [event["topics"]["none"]]
    wording = {
        "tone": words["tone"][tone],
        "reaction": words["reaction"][tone],
        "topic": event["and"].format(one=topics[0], other=topics[1]) if len(topics) > 1 else topics[0],
    }
    fields = dict.fromkeys(event["fields"].get(change["field"], event["fields"]["other"]) for change in state_changes)
    changed = event["changed"].format(fields=", ".join(fields)) if fields else event["impact"][tone]
    return EventExtract.model_validate(
        {
            "summary": event["summary"].format(**wording),
            "pattern": {
                "precondition": _capitalised(event["precondition"].format(**wording)),
                "trigger": event["trigger"].format(**wording),
                "reaction": wording["reaction"],
                "impact": changed,
            },
            "narrative_fragment": event["fragment"][tone],
        }
    )


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def reflect(
    lang: Lang,
    messages: Sequence[Message],
    inner_state: str,
    slots: Sequence[dict[str, Any]],
    name: str,
    persona: Sequence[str],
    soul_file: str,
    user_file: str,
    about_itself: str,
) -> Reflection:
    """The thoughts about the person with one new feeling and the new facts; the facts also go to free slots."""
    words = lines()[lang]["tasks"]
    user_texts = _texts_by("user", messages)
    feeling = pick(words["reflection"][tone_of(user_texts)], "\n".join(user_texts))
    known = {slot["content"] for slot in slots}
    facts = [fact for fact in _facts(user_texts, words["fact"]) if fact not in known]
    thoughts = [feeling, *(words["understood"].format(quote=fact) for fact in facts)]
    taken = {slot["n"] for slot in slots}
    free = [n for n in FACT_SLOTS if n not in taken]
    # Facts that find no free slot are kept in the inner state alone.
    new = [Slot(n=n, content=fact) for n, fact in zip(free, facts, strict=False)]
    return Reflection(inner_state=_append_paragraphs(inner_state, thoughts), slots=new)


def update_memory(
    lang: Lang, messages: Sequence[Message], base_persona: str, evolved_persona: str | Mapping[str, str]
) -> EvolvedPersona:
    """What has grown, with a sentence added to each dimension; the feeling is only ever the present one.

    A persona that was not written in dimensions goes on as behaviour.
    """
    growth = lines()[lang]["tasks"]["growth"][tone_of(_texts_by("user", messages))]
    old = {"behaviour": evolved_persona} if isinstance(evolved_persona, str) else evolved_persona
    kept = {name: SCORE.sub("", text) for name, text in old.items() if name != "feeling"}
    return EvolvedPersona(**{name: _append_paragraphs(kept.get(name, ""), [text]) for name, text in growth.items()})


def summarize(lang: Lang, messages: Sequence[Message]) -> Summary:
    words = lines()[lang]["tasks"]
    user_texts = _texts_by("user", messages)
    replies = _texts_by("assistant", messages)
    if not user_texts:
        return Summary(title=words["untitled"], summary=words["summary"]["none"])
    wording = {"first": quoted(user_texts[0], _MAX_FRAGMENT), "last": quoted(user_texts[-1], _MAX_FRAGMENT)}
    parts = [words["summary"]["many" if len(user_texts) > 1 else "one"].format(**wording)]
    if replies:
        parts.append(words["summary"]["reply"].format(reply=quoted(replies[-1], _MAX_FRAGMENT)))
    return Summary(title=quoted(user_texts[0], _MAX_TITLE) or words["untitled"], summary=" ".join(parts))


def proactive(lang: Lang, planned: Sequence[str], **_: Any) -> Impulse:
    """To ask how it was is all that the offline voice says unasked."""
    return Impulse(reason=planned[0] if planned else "-", speak=bool(planned), text=planned[0] if planned else "")


HEURISTICS: Mapping[str, Callable[..., TaskOutput]] = {
    "extract_event": extract_event,
    "reflect": reflect,
    "update_memory": update_memory,
    "summarize": summarize,
    "proactive": proactive,
}


def task_answer(cues: Mapping[str, Any]) -> str:
    """The text that a model would answer to the task in these cues."""
    return HEURISTICS[cues["task"]](**{key: value for key, value in cues.items() if key != "task"}).model_dump_json()


def _texts_by(role: str, messages: Sequence[Message]) -> list[str]:
    return [message["content"] for message in messages if message["role"] == role]


def _facts(user_texts: Sequence[str], wording: Mapping[str, str]) -> list[str]:
    """What the user stated about themself, each fact once, in order."""
    facts: dict[str, None] = {}
    for text in user_texts:
        if is_question(text):
            continue
        if name := introduced_name(text):
            facts[wording["name"].format(quote=name)] = None
        for kind, pattern in _FACTS.items():
            if found := pattern.search(text):
                facts[wording[kind].format(quote=(found[1] or found[2]).strip())] = None
    return list(facts)


def _append_paragraphs(old: str, new: Sequence[str]) -> str:
    """Add paragraphs to a text. Beyond the limit, those after the first are dropped, oldest first."""
    paragraphs = [*(p for p in old.splitlines() if p.strip() and p not in new), *new]
    while len("\n".join(paragraphs)) > INNER_STATE_LIMIT and len(paragraphs) > 2:
        del paragraphs[1]
    return "\n".join(paragraphs)[-INNER_STATE_LIMIT:]
