"""What a turn would send to the model, before it is sent, and how much of it each module of the template takes."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Self

from fastapi import APIRouter
from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, model_validator

from soulgraph.api.auth import owner
from soulgraph.api.edits import Body
from soulgraph.api.fields import Id, Text
from soulgraph.api.services import Served
from soulgraph.nodes.context import Context
from soulgraph.nodes.emotion import emotion
from soulgraph.nodes.intent_filter import intent_filter
from soulgraph.nodes.pad_update import guarded, mode_now
from soulgraph.nodes.persona_context import prompt_of, template_of
from soulgraph.nodes.state import Heard, Said, TurnState
from soulgraph.prompts.tokens import tokens_of
from soulgraph.runtime.telemetry import NoTelemetry
from soulgraph.senses.text import normalise
from soulgraph.soul.dynamics import EmotionState, impact
from soulgraph.soul.gate import judge
from soulgraph.soul.personality import Traits
from soulgraph.stores.factories import DEFAULT_USER, new_session
from soulgraph.stores.records import Session, Soul
from soulgraph.stores.stores import Transaction

router = APIRouter(prefix="/v1/templates", tags=["library"])

_NEW = "preview"
_TITLE = re.compile(r"^---(.+)---$", re.MULTILINE)


class Rehearsal(Body):
    text: Text
    session_id: Id | None = None
    soul_id: Id | None = None

    @model_validator(mode="after")
    def _one_listener(self) -> Self:
        if (self.session_id is None) == (self.soul_id is None):
            raise ValueError("send either `session_id`, or `soul_id` for a conversation that begins")
        return self


class MessageOut(BaseModel):
    role: str
    content: str
    characters: int
    tokens: int


class ModuleOut(BaseModel):
    name: str
    layer: int
    enabled: bool
    characters: int
    tokens: int


class PreviewOut(BaseModel):
    messages: list[MessageOut]
    modules: list[ModuleOut]
    characters: int
    tokens: int
    sources: list[str]
    memory_hits: int
    truncated: bool


@router.post("/{template_id}/preview", dependencies=[owner])
async def preview_template(template_id: Id, wanted: Rehearsal, services: Served) -> PreviewOut:
    """Nothing is sent, felt or stored. Tokens are an estimate."""
    context = replace(services.context, telemetry=NoTelemetry())
    async with services.stores.read() as tx:
        template = await template_of(tx, template_id)
        soul, session = await _listener(tx, wanted, template_id, context)
    state = await _rehearsed(soul, session, wanted.text, context)
    told = await prompt_of(state, context)
    messages = [_message(message) for message in told["messages"]]
    sections = _sections(told["messages"])
    return PreviewOut(
        messages=messages,
        modules=[_module(module.name, module.layer, module.enabled, sections) for module in template.modules],
        characters=sum(message.characters for message in messages),
        tokens=sum(message.tokens for message in messages),
        **{name: told["persona"][name] for name in ("sources", "memory_hits", "truncated")},
    )


async def _listener(tx: Transaction, wanted: Rehearsal, template_id: str, context: Context) -> tuple[Soul, Session]:
    """The session as if it spoke by this template, or one that begins."""
    if wanted.session_id:
        session = replace(await tx.sessions.get(wanted.session_id), template_id=template_id)
        return await tx.souls.get(session.soul_id), session
    soul = await tx.souls.get(wanted.soul_id or "")
    return soul, await new_session(
        tx,
        soul,
        session_id=_NEW,
        user_id=DEFAULT_USER,
        title="",
        character_id=None,
        background_id=None,
        template_id=template_id,
        mode=context.persona.default_mode,
        now=context.clock(),
    )


async def _rehearsed(soul: Soul, session: Session, text: str, context: Context) -> TurnState:
    """The turn up to its prompt, without its traces: the soul is moved in thought only."""
    runtime, now, constants = Runtime(context=context), context.clock(), context.constants
    said: Said = {
        "text": text,
        "soul_id": soul.soul_id,
        "session_id": session.session_id,
        "input_id": _NEW,
        "turn_id": _NEW,
        "user_id": session.user_id,
    }
    state: TurnState = {"said": said}
    state |= await emotion(state, runtime)
    traits, felt = Traits.from_dict(soul.personality_vector), state["user_emotion"]
    feeling = impact(traits, EmotionState.from_dict(soul.emotion_state), felt, now, constants)
    mode = mode_now(session.persona_state, normalise(text), context.persona, now)
    heard = guarded(Heard(now, _NEW, felt, soul, feeling, session), normalise(text), mode, context.persona)
    state |= {
        "heard": heard,
        "persona_state": mode,
        "gate": judge(traits, feeling, now, constants),
    }
    state |= await intent_filter(state, runtime)
    return state


def _message(message: BaseMessage) -> MessageOut:
    role = {"human": "user", "ai": "assistant"}.get(message.type, message.type)
    return MessageOut(role=role, content=message.text, characters=len(message.text), tokens=tokens_of(message.text))


def _sections(messages: Sequence[BaseMessage]) -> dict[str, str]:
    """The sections by title. They stand in the first and the last message, and no text inside can pass for a title."""
    sections: dict[str, str] = {}
    for message in (messages[0], messages[-1]):
        titles = [*_TITLE.finditer(message.text)]
        ends = [*(title.start() for title in titles[1:]), len(message.text)]
        sections |= {
            title[1]: message.text[title.start() : end].strip() for title, end in zip(titles, ends, strict=True)
        }
    return sections


def _module(name: str, layer: int, enabled: bool, sections: dict[str, str]) -> ModuleOut:
    said = sections.get(name, "")
    return ModuleOut(name=name, layer=layer, enabled=enabled, characters=len(said), tokens=tokens_of(said))
