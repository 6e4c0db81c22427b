"""Stores and reports what the preference guard decides, in a turn and after it."""

from collections.abc import Sequence

from soulgraph.nodes.context import Telemetry
from soulgraph.soul.preferences import Decision
from soulgraph.stores.records import Preference
from soulgraph.stores.stores import Transaction


async def keep_preferences(tx: Transaction, soul_id: str, decisions: Sequence[Decision], now: float) -> None:
    """Store the preferences that the guard let through."""
    for decision in decisions:
        if decision.verdict == "persist":
            key, value, confidence = decision.key, decision.value, decision.confidence
            await tx.preferences.put(
                Preference(soul_id, key, value, confidence, decision.reason, decision.evidence, now)
            )


def report_decisions(decisions: Sequence[Decision], telemetry: Telemetry, **ids: str) -> None:
    for decision in decisions:
        kind = "persisted" if decision.verdict == "persist" else "rejected"
        telemetry.emit(f"persona.preference.{kind}", **ids, writeback_decision=decision.to_dict())
