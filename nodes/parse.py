"""Takes the reply and the state update out of the model's answer, or says that nothing in it can be shown."""

from dataclasses import replace
from typing import Literal

from langgraph.runtime import Runtime

from soulgraph.errors import ContractBroken, TurnOutputInvalid
from soulgraph.nodes.context import Context, Telemetry
from soulgraph.nodes.outside import sources_of
from soulgraph.nodes.quality import report_refusals
from soulgraph.nodes.state import TurnResult, TurnState
from soulgraph.prompts.contract import has_tags, read_update
from soulgraph.senses.planted import planted
from soulgraph.soul.profile import StateUpdate
from soulgraph.soul.state_updates import lenient_update, strict_update, without_items

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
    result = _without_planted(result, state, runtime.context.telemetry)
    if persona.static:  # such a soul does not change
        result = replace(result, state_update=StateUpdate(), update_pending=False)
    return {"result": result}


def _without_planted(result: TurnResult, state: TurnState, telemetry: Telemetry) -> TurnResult:
    """What somebody else wants the soul to become is no change of its own."""
    if result.state_update.is_empty:
        return result
    impact, utterance = state["impact"], state["utterance"]
    snapshot = impact.session.snapshot_of(utterance["soul_id"])
    sources = sources_of(state, snapshot["base_persona"], impact.soul.inner_state, *impact.names.values())
    update, refused = without_items(result.state_update, lambda item: planted(item, sources))
    ids = {"session_id": utterance["session_id"], "soul_id": utterance["soul_id"], "turn_id": impact.turn_id}
    report_refusals(telemetry, "profile", ["planted"] * refused, **ids)
    return replace(result, state_update=update)


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
