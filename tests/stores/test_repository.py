"""What all repositories share."""

from hypothesis import given
from hypothesis import strategies as st

from soulgraph.stores.repository import padded


@given(st.sets(st.integers()))
def test_ids_are_padded_to_few_lengths_and_stay_the_same_ids(ids):
    some = padded(ids)
    assert set(some) == ids
    assert len(some) in {0, *(1 << n for n in range(12))}
    assert len(some) < 2 * max(1, len(ids)) or len(some) == 1
