"""Stores and reports what the preference guard decides, in a turn and after it."""

from collections.abc import Sequence

from soulgraph.nodes.context import Telemetry
from soulgraph.soul.preferences import Decision
from soulgraph.stores.records import Preference
from soulgraph.stores.stores import Transaction


async def keep_preferences(
    tx: Transaction,
    soul_id: str,
    user_id: str,
    decisions: Sequence[Decision],
    now: float,
    shared_with: tuple[str, ...] = (),
) -> None:
    """Store the person's preferences that the guard let through; those who were present know them."""
    for decision in decisions:
        if decision.verdict == "persist":
            kept = Preference(
                soul_id=soul_id,
                user_id=user_id,
                key=decision.key,
                value=decision.value,
                confidence=decision.confidence,
                source=decision.reason,
                evidence=decision.evidence,
                updated_at=now,
                shared_with=shared_with,
            )
            await tx.preferences.put(kept)


def report_decisions(decisions: Sequence[Decision], telemetry: Telemetry, **ids: str) -> None:
    for decision in decisions:
        kind = "persisted" if decision.verdict == "persist" else "rejected"
        telemetry.emit(f"persona.preference.{kind}", **ids, writeback_decision=decision.to_dict())
