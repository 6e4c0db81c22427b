"""A turn under way, for tests of single nodes."""

from soulgraph.nodes.emotion import UNKNOWN
from soulgraph.nodes.state import Heard
from soulgraph.soul.dynamics import EmotionState, born
from soulgraph.soul.personality import traits_of
from soulgraph.stores.records import Soul
from soulgraph.tests.conformance.samples import session, soul

CALM = born(traits_of("INFJ"), 0.0)


def heard(who: Soul | None = None, feeling: EmotionState = CALM) -> Heard:
    individual = who or soul()
    return Heard(0.0, "turn_1", UNKNOWN, individual, feeling, session(soul_id=individual.soul_id))
