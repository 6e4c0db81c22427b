"""Takes the reply and the state update out of the model's answer, or says that nothing in it can be shown."""

from dataclasses import replace
from typing import Literal

from langgraph.runtime import Runtime

from soulgraph.errors import ContractBroken, TurnOutputInvalid
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnResult, TurnState
from soulgraph.prompts.contract import has_tags, read_update
from soulgraph.soul.profile import StateUpdate
from soulgraph.soul.state_updates import lenient_update, strict_update

_UNUSABLE = (
    "the model twice gave no answer that could be used, and the turn was not stored: send it again, or use a stronger "
    "model (`soulgraph model` lists those of the server)"
)
_NOT_STRICT = "the model's answer breaks the output contract, and strict_output is on: the turn was not stored"


async def parse(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    """What people have read is the reply. The turn fails only if there was nothing to read, twice."""
    persona = runtime.context.persona
    if not state["shown"] and not persona.strict_output:
        if "problem" in state:
            raise TurnOutputInvalid(_UNUSABLE, turn_id=state["impact"].turn_id, reason=state["fault"])
        return {"problem": state["fault"]}
    result = _strict_result(state) if persona.strict_output else _result(state)
    if persona.static:  # such a soul does not change
        result = replace(result, state_update=StateUpdate(), update_pending=False)
    return {"result": result}


async def usable_or_repair(state: TurnState) -> Literal["writeback", "repair"]:
    return "writeback" if "result" in state else "repair"


def _result(state: TurnState) -> TurnResult:
    """An update that is missing or cannot be read is asked for once the reply is out."""
    executed = state.get("executed", [])
    try:
        update = lenient_update(read_update(state["output"]), state["impact"].soul.dynamic_profile)
    except ContractBroken:
        return TurnResult(state["shown"], update_pending=True, executed=executed)
    return TurnResult(state["shown"], update, executed=executed)


def _strict_result(state: TurnState) -> TurnResult:
    """The seed's rule: whatever cannot be parsed rolls the turn back, also if its words were read already."""
    try:
        if not state["shown"] or not has_tags(state["output"]):
            raise ContractBroken("there is no text inside <narrative>…</narrative>")
        update = strict_update(read_update(state["output"], strict=True), state["impact"].soul.dynamic_profile)
    except ContractBroken as broken:
        raise TurnOutputInvalid(_NOT_STRICT, turn_id=state["impact"].turn_id, reason=broken.detail) from broken
    return TurnResult(state["shown"], update, executed=state.get("executed", []))
