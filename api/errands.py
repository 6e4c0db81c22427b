"""What programs ask a language model for besides the conversation: titles, tags, summaries … None of it is speech.

A soul hears nothing of them. The language model answers them; without one what can be said without it.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import yaml

from soulgraph.api.openai_request import Message, OpenAIRequest, text_of
from soulgraph.api.talk import read_talk
from soulgraph.errors import ModelUnavailable
from soulgraph.senses.errands.head import Asked, probability

_LOOKED_AT = 3000
"""Characters at each end of a text that are looked at."""
_TITLE_WORDS, _TITLE_CHARACTERS = 5, 24
_HEALTH_TOKENS, _HEALTH_CHARACTERS, _HEALTH_SYSTEM = 16, 80, 24
_KEY = re.compile(r"""\{\s*\\?["'](\w{1,40})\\?["']\s*:""")
_QUOTED_LINE = re.compile(r"""(?im)^\W{0,3}(?:user message|user|human|用户)\W{0,3}[:：]\s*["'“]*(.+?)["'”]*\s*$""")
_INSIDE = re.compile(r"""(?s)["“](.{1,2000}?)["”]""")
_TASK = re.compile(r"\s*#{2,4} task", re.IGNORECASE)
_EMPTY: Mapping[str, Any] = {
    "title": "",
    "text": "",
    "prompt": "",
    "tags": ["General"],
    "follow_ups": [],
    "queries": [],
    "operations": [],
    "tool_calls": [],
    "function_call": {"name": "continue_chat"},
}
_NEEDS_MODEL = "there is no language model for this, and what a soul says is no answer to it: set SOULGRAPH_LLM_MODEL"


_CERTAIN = 0.95
"""So likely what no pattern knows must be an errand, as nobody may talk to a soul and be heard by none."""


class Errand(NamedTuple):
    """What is to be made, of which text, and under which key of a JSON object it is expected; empty for plain text."""

    kind: str
    text: str
    key: str = ""


def errand_in(request: OpenAIRequest, messages: Sequence[Message]) -> Errand | None:
    """What a program wants that is no speech; None for words of a person."""
    known = _known_errand(request, messages)
    # The system's word behind a talk mostly says how to play the part.
    if known or not messages or messages[-1].role == "assistant" or (messages[-1].role != "user" and len(messages) > 1):
        return known
    asked = asked_in(request, messages)
    return _errand(request, f"{asked.system}\n{asked.said}") if probability(asked) > _CERTAIN else None


def asked_in(request: OpenAIRequest, messages: Sequence[Message]) -> Asked:
    """The request as the head of the sense judges it, with what the patterns see in it."""
    said = [one for one in messages if one.role != "system" or text_of(one.content).strip()] or messages
    last = said[-1]
    texts = [text_of(one.content) for one in messages if one.role in ("system", "developer") and one is not last]
    system, text = "\n".join(texts), text_of(last.content)
    return Asked(
        said=text,
        said_by=last.role,
        system=system,
        is_answered=any(one.role == "assistant" for one in messages[:-1]),
        messages=len(messages),
        response_format=str(_inside(request.model_extra, "response_format", "type") or ""),
        forces_tool=request.forced_by is not None,
        seen=[*_seen("said", _ends(text)), *_seen("system", _ends(system))],
    )


def _seen(where: str, text: str) -> Iterator[str]:
    for name in _patterns() if text else ():
        yield f"{where} {name}: {min(_count(name, text), 3)}"
    yield f"{where} makes {_kind(text)}"


def _known_errand(request: OpenAIRequest, messages: Sequence[Message]) -> Errand | None:
    """What patterns recognise."""
    system = _ends("\n".join(text_of(one.content) for one in messages if one.role in ("system", "developer")))
    said = [one for one in messages if one.role != "system" or text_of(one.content).strip()]
    last, text = said[-1].role if said else "", _ends(text_of(said[-1].content)) if said else ""
    if last in ("system", "developer") and len(said) > 1:
        return _errand(request, text) if _is_command(text) else None
    if _is_ordered(system):
        return _errand(request, system)
    if last == "assistant" or not text:
        return None
    if not {"user", "assistant", "tool"} & {one.role for one in messages}:
        is_order = _kind(text) or _found("demands", text) or _found("known", text)
        return _errand(request, text) if is_order and not _found("of_the_part", text) else None
    alone = not any(one.role == "assistant" and text_of(one.content).strip() for one in messages)
    if alone and _is_health_check(request, messages, text):
        return Errand("health", text)
    whole = f"{system}\n{text}" if alone else text
    return _errand(request, whole) if _is_task(system, text, alone) else None


def answer_without_model(errand: Errand, messages: Sequence[Message]) -> str:
    """Raises ModelUnavailable for what nobody can say without a model."""
    talk = read_talk(messages)
    quoted = [line.strip() for line in _QUOTED_LINE.findall(errand.text) or _INSIDE.findall(errand.text)]
    words = quoted[0] if quoted else talk.rounds[0].said if talk else ""
    if errand.key:
        value = _title(words) if errand.key == "title" else _EMPTY.get(errand.key, "")
        return json.dumps({errand.key: value}, ensure_ascii=False)
    plain = {"title": _title(words), "tags": "General", "emoji": "🙂", "health": "OK", "classification": "neutral"}
    if errand.kind not in plain:
        raise ModelUnavailable(_NEEDS_MODEL)
    return plain[errand.kind]


def _is_task(system: str, text: str, alone: bool) -> bool:
    """`alone`: nothing was answered before it, so that the whole request is one question."""
    whole = f"{system}\n{text}" if alone else text
    demands = _count("demands", whole)
    if _found("answers_user", whole) or _found("pasted", text):
        return False
    if _found("known", whole):
        return True
    command = _command_in(text) or (_command_in(system) if alone else "")
    if command and (_found("demands", command) or _kind(command)):
        return True
    if not alone:
        return _kind(text) != "" and demands >= 2 and _found("about_the_talk", text)
    return _is_framed(text) or _is_helped(system, text, demands)


def _is_framed(text: str) -> bool:
    """Whether a text asks for something about a conversation that it quotes."""
    if _kind(text) == "" or not _found("demands", text):
        return False
    framed = _found("quoted_talk", text) and (_found("about_the_talk", text) or _found("helper", text))
    return framed or (_TASK.match(text) is not None and _count("demands", text) > 1)


def _is_command(text: str) -> bool:
    """Whether the system's last word asks for something about the conversation before it, and not how to go on."""
    if _command_in(text):
        return True
    if _found("of_the_part", text):
        return False
    framed = _kind(text) != "" and _found("demands", text) and _found("about_the_talk", text)
    return framed or _found("system_command", text)


def _command_in(text: str) -> str:
    """What stands behind the conversation, also where a program has joined it to the last line."""
    begin = min((found.start() for one in _patterns()["command"].values() if (found := one.search(text))), default=-1)
    return text[begin:] if begin >= 0 else ""


def _is_helped(system: str, text: str, demands: int) -> bool:
    """Whether the system's message makes a helper of the model, for what the user's quotes or is."""
    if _kind(system) == "":
        return False
    if _found("quoted_talk", text) and _found("helper", system):
        return True
    about = _found("quoted_talk", text) and _found("about_the_talk", system)
    return about and demands > 0 and not _found("of_the_part", system)


def _is_ordered(system: str) -> bool:
    """Whether the system's message alone says what is to be made of all that follows."""
    if _kind(system) == "" or _found("of_the_part", system):
        return False
    demands = _count("demands", system)
    asks = _found("system_command", system) or _found("plain_helper", system)
    return asks and (demands > 1 or (demands > 0 and _found("what_follows", system)))


def _is_health_check(request: OpenAIRequest, messages: Sequence[Message], text: str) -> bool:
    """A program that asks whether anybody is there wants next to no answer, or says so."""
    fields = request.model_extra or {}
    limits = [fields.get(name) for name in ("max_tokens", "max_completion_tokens", "max_output_tokens")]
    is_short = any(isinstance(limit, int) and 0 < limit <= _HEALTH_TOKENS for limit in limits)
    others = [text_of(one.content) for one in messages[:-1]]
    if len(text) > _HEALTH_CHARACTERS or any(len(one) > _HEALTH_SYSTEM for one in others):
        return False
    if _found("names_itself", text):
        return True
    if "test" in others:
        return _found("health", text.strip())
    unthinking = fields.get("enable_thinking") is False and not request.stream
    return "litellm" in text.lower() or ((is_short or unthinking) and _found("health", text.strip()))


def _errand(request: OpenAIRequest, text: str) -> Errand:
    kind = _kind(text) or "other"
    in_words = _key(text, kind) if re.search("json", text, re.IGNORECASE) else ""
    return Errand(kind, text, _key_in_schema(request) or in_words)


def _key_in_schema(request: OpenAIRequest) -> str:
    """The first key of the object that a response format or a tool that must be called describes."""
    fields = request.model_extra or {}
    schema = _inside(fields.get("response_format"), "json_schema", "schema")
    if schema is None and request.forced_by and isinstance(tools := fields.get("tools"), list) and tools:
        schema = _inside(tools[0], "function", "parameters")
    names = [*(_inside(schema, "required") or ()), *(_inside(schema, "properties") or ())]
    known = [name for name in names if name in _EMPTY]
    return str(next(iter(known or names), ""))


def _inside(value: Any, *path: str) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _key(text: str, kind: str) -> str:
    """The key of the object that is asked for; one that we know before others, which may stand in examples."""
    keys = _KEY.findall(text)
    if kind == "intent":
        keys.append("function_call")
    return next((key for key in keys if key in _EMPTY), keys[0] if keys else "")


def _kind(text: str) -> str:
    return next((kind for kind, pattern in _patterns()["makes"].items() if pattern.search(text)), "")


def _title(words: str) -> str:
    """The first words, without what ends a sentence."""
    first = re.split(r"[.!?。！？\n]", words.strip(), maxsplit=1)[0]
    return " ".join(first.split()[:_TITLE_WORDS])[:_TITLE_CHARACTERS].strip(" ,，;；:：\"'") or "…"


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _LOOKED_AT else f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"


def _found(name: str, text: str) -> bool:
    return _count(name, text) > 0


@lru_cache(maxsize=128)
def _count(name: str, text: str) -> int:
    """How many of these patterns the text has. Remembered: the rules and the head ask it of the same texts."""
    return sum(pattern.search(text) is not None for pattern in _patterns()[name].values())


@cache
def _patterns() -> dict[str, dict[str, re.Pattern[str]]]:
    marks = yaml.load((files(__package__) / "errands.yaml").read_text("utf-8"), yaml.CSafeLoader)
    named = {name: _named(value) for name, value in marks.items()}
    return {
        name: {key: re.compile(one, re.IGNORECASE) for key, one in patterns.items()} for name, patterns in named.items()
    }


def _named(value: Any) -> dict[str, str]:
    if isinstance(value, dict):
        return value
    return {str(n): one for n, one in enumerate([value] if isinstance(value, str) else value)}
