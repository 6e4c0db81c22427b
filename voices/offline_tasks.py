"""The four tasks by rule of thumb: pure functions from a conversation to the output a model would give."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from soulgraph.soul.language import Lang
from soulgraph.voices.names import nameless, names_in
from soulgraph.voices.offline_parsing import introduced_name, is_question, lines, quoted, tone_of
from soulgraph.voices.offline_reply import pick
from soulgraph.voices.tasks import (
    INNER_STATE_LIMIT,
    SCORE,
    EventExtract,
    EvolvedPersona,
    Reflection,
    Slot,
    Summary,
    TaskOutput,
)

FACT_SLOTS = range(10)

_QUOTE, _FRAGMENT, _TITLE = 80, 160, 24
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
    """One abstract experience; `state_changes` are `{field, change}` as the profile recorded them."""
    words, heard = lines()[lang]["tasks"], _said_by(messages, "user")
    tone, hidden = tone_of(heard), [*names, *names_in(message["content"] for message in messages)]

    def abstract(text: str, limit: int = _QUOTE) -> str:
        return quoted(nameless(SCORE.sub("", text), hidden, lang), limit)

    told = {
        "tone": words["tone"][tone],
        "reaction": words["reaction"][tone],
        "said": abstract(_telling(heard, tone)) or words["event"]["silence"],
    }
    changes = [{"field": c["field"], "change": abstract(c["change"])} for c in state_changes]
    lasting = words["event"]["changed"].format(changes="; ".join(c["change"] for c in changes))
    replies = _said_by(messages, "assistant")
    return EventExtract.model_validate(
        {
            "summary": words["event"]["summary"].format(**told),
            "pattern": {
                "precondition": words["event"]["precondition"].format(**told),
                "trigger": words["event"]["trigger"].format(**told),
                "reaction": told["reaction"],
                "impact": lasting if changes else words["event"]["unchanged"],
            },
            "impact": {"state_changes": changes},
            "narrative_fragment": abstract(replies[-1] if replies else "", _FRAGMENT) or told["reaction"],
        }
    )


def reflect(lang: Lang, messages: Sequence[Message], inner_state: str, slots: Sequence[dict[str, Any]]) -> Reflection:
    """The old monologue, one new feeling and what was understood; facts go to free slots."""
    words, heard = lines()[lang]["tasks"], _said_by(messages, "user")
    feeling = pick(words["reflection"][tone_of(heard)], "\n".join(heard))
    kept = {slot["content"] for slot in slots}
    facts = [fact for fact in _facts(heard, words["fact"]) if fact not in kept]
    thoughts = [feeling, *(words["understood"].format(quote=fact) for fact in facts)]
    taken = {slot["n"] for slot in slots}
    free = [n for n in FACT_SLOTS if n not in taken]
    new = [Slot(n=n, content=fact) for n, fact in zip(free, facts, strict=False)]
    return Reflection(inner_state=_grown(inner_state, thoughts), slots=new)


def update_memory(lang: Lang, messages: Sequence[Message], base_persona: str, evolved_persona: str) -> EvolvedPersona:
    """The old growth with what this conversation added; the base persona is never repeated in it."""
    growth = lines()[lang]["tasks"]["growth"][tone_of(_said_by(messages, "user"))]
    return EvolvedPersona(text=_grown(SCORE.sub("", evolved_persona), [growth]))


def summarize(lang: Lang, messages: Sequence[Message]) -> Summary:
    words = lines()[lang]["tasks"]
    heard, replies = _said_by(messages, "user"), _said_by(messages, "assistant")
    if not heard:
        return Summary(title=words["untitled"], summary=words["summary"]["none"])
    told = {"first": quoted(heard[0], _FRAGMENT), "last": quoted(heard[-1], _FRAGMENT)}
    parts = [words["summary"]["many" if len(heard) > 1 else "one"].format(**told)]
    if replies:
        parts.append(words["summary"]["reply"].format(reply=quoted(replies[-1], _FRAGMENT)))
    return Summary(title=quoted(heard[0], _TITLE) or words["untitled"], summary=" ".join(parts))


HEURISTICS: Mapping[str, Callable[..., TaskOutput]] = {
    "extract_event": extract_event,
    "reflect": reflect,
    "update_memory": update_memory,
    "summarize": summarize,
}


def task_answer(cues: Mapping[str, Any]) -> str:
    """The text a model would send for these cues."""
    output = HEURISTICS[cues["task"]](**{key: value for key, value in cues.items() if key != "task"})
    return output.text if isinstance(output, EvolvedPersona) else output.model_dump_json()


def _said_by(messages: Sequence[Message], role: str) -> list[str]:
    return [message["content"] for message in messages if message["role"] == role]


def _telling(heard: Sequence[str], tone: str) -> str:
    """The longest text that carries the tone of the whole."""
    return max((text for text in heard if tone_of([text]) == tone), key=len, default="")


def _facts(heard: Sequence[str], wording: Mapping[str, str]) -> list[str]:
    """What the user stated about themself, each once, in the order it was said."""
    facts: dict[str, None] = {}
    for text in heard:
        if is_question(text):
            continue
        if name := introduced_name(text):
            facts[wording["name"].format(quote=name)] = None
        for kind, pattern in _FACTS.items():
            if found := pattern.search(text):
                facts[wording[kind].format(quote=(found[1] or found[2]).strip())] = None
    return list(facts)


def _grown(old: str, thoughts: Sequence[str]) -> str:
    """Old paragraphs, then the new ones; the first (why one cares) and the newest outlive the middle."""
    paragraphs = [*(p for p in old.splitlines() if p.strip() and p not in thoughts), *thoughts]
    while len("\n".join(paragraphs)) > INNER_STATE_LIMIT and len(paragraphs) > 2:
        del paragraphs[1]
    return "\n".join(paragraphs)[-INNER_STATE_LIMIT:]
