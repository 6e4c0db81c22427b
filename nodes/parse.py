"""Takes the reply and the state update out of the model's answer, or says what is wrong with it."""

from typing import Literal

from langgraph.runtime import Runtime
from pydantic import ValidationError

from soulgraph.errors import ContractBroken, TurnOutputInvalid
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnResult, TurnState
from soulgraph.prompts.contract import read_narrative, read_update
from soulgraph.soul.profile import Profile, StateUpdate
from soulgraph.soul.validation import explain


async def parse(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    """What was shown to the user stays the reply, also when only the repaired answer has a usable state update."""
    impact = state["impact"]
    try:
        reply = state["shown"] or read_narrative(state["output"])
        update = _validated(state["output"], impact.soul.dynamic_profile)
    except ContractBroken as broken:
        if "problem" in state:
            raise TurnOutputInvalid(
                f"the model's answer was unusable twice ({broken.detail}); the turn was not stored, send it again",
                turn_id=impact.turn_id,
            ) from broken
        return {"problem": broken.detail}
    return {"result": TurnResult(reply, update, executed=state.get("executed", []))}


async def usable_or_repair(state: TurnState) -> Literal["writeback", "repair"]:
    return "writeback" if "result" in state else "repair"


def _validated(output: str, profile: Profile) -> StateUpdate:
    try:
        update = StateUpdate.model_validate(read_update(output))
    except ValidationError as error:
        raise ContractBroken(explain(error, root="state_update_json", limit=3)) from error
    if unknown := update.unknown_fields(profile):
        raise ContractBroken(f"state_update_json has unknown fields: {', '.join(unknown)}")
    return update
