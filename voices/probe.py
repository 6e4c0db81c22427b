"""Finds out how a model answers best: whether it keeps the tags of the output contract, or should just talk."""

import logging
from dataclasses import dataclass

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.constants import TAG_NOSTREAM

from soulgraph.errors import ContractBroken, ModelError
from soulgraph.prompts.contract import STOP, Carrier, has_tags, narrative_of, read_update
from soulgraph.prompts.layers import contract, example_replies
from soulgraph.prompts.render import load
from soulgraph.soul.language import Lang
from soulgraph.soul.profile import empty_profile
from soulgraph.soul.state_updates import strict_update
from soulgraph.voices.speech import translate_model_errors
from soulgraph.voices.voice import Voice

IN_WORDS: dict[Carrier, str] = {
    "tags": "keeps the tags of the output contract: reply and state update come in one call",
    "plain": "does not keep the tags of the output contract: it just talks, and its state update is asked for after",
}

_CONFIG = RunnableConfig(run_name="probe", tags=[TAG_NOSTREAM])
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Trial:
    """What a soul expects, what is said to it, and whether that changes it."""

    lang: Lang
    name: str
    state: str
    text: str
    surprising: bool


_TRIALS = (
    _Trial(
        lang="zh",
        name="小林",
        state="---现状---\nrelationships: 用户, 每天下班都要抱怨加班的朋友 (priority 7)",
        text="今天下班又晚了，饭也没吃上。",
        surprising=False,
    ),
    _Trial(
        lang="en",
        name="Mika",
        state="---Current State---\nrelationships: user, will stay with me for good (priority 8)",
        text="I signed the papers today. Tomorrow I move abroad, you stay here, and I won't come back.",
        surprising=True,
    ),
)


async def learn_habits(voice: Voice) -> None:
    """Try an ordinary turn and a surprising one, and note down what came. A model that fails is asked again later."""
    habits = voice.habits
    habits.known = True  # set first: other workers need not ask at the same time
    try:
        kept = [_keeps_contract(trial, await _answer(voice, trial)) for trial in _TRIALS]
    except ModelError as error:
        habits.known = False
        _log.warning("voice: %s could not be probed: %s", voice.name, error.detail)
        return
    habits.carrier = "tags" if all(kept) else "plain"
    _log.info("voice: %s %s", voice.name, IN_WORDS[habits.carrier])


async def _answer(voice: Voice, trial: _Trial) -> str:
    with translate_model_errors():
        return (await voice.model.ainvoke(_prompt(trial), _CONFIG, stop=STOP["tags"])).text


def _prompt(trial: _Trial) -> list[BaseMessage]:
    system = (load("safety", trial.lang), trial.state, contract("tags", trial.name, trial.lang))
    return [SystemMessage("\n\n".join(system)), HumanMessage(trial.text)]


def _keeps_contract(trial: _Trial, answer: str) -> bool:
    """Whether there are words of its own, and an update to the letter just where something has changed."""
    try:
        update = strict_update(read_update(answer, strict=True), empty_profile())
    except ContractBroken:
        return False
    reply = narrative_of(answer)
    spoken = has_tags(answer) and bool(reply) and reply not in example_replies()
    return spoken and update.is_empty != trial.surprising
