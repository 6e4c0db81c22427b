"""People: who may know of what belongs to somebody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.soul.people import EVERYONE, NOBODY, may_know, others, visibility_of

person = st.sampled_from(["ann", "An", "bob", "林", "a_b", "a%b"])
people = st.sets(person)


@pytest.mark.parametrize(
    ("audience", "user_id", "shared_with", "known"),
    [
        (["ann"], "ann", [], True),
        (["bob"], "ann", [], False),
        (["Ann"], "ann", [], False),
        (["bob"], "ann", ["bob"], True),
        (["cleo"], "ann", ["bob"], False),
        (["cleo"], "ann", [EVERYONE], True),
        (["ann", "bob"], "ann", [], False),
        (["ann", "bob"], "ann", ["bob"], True),
        (["bob", "cleo"], "ann", ["bob", "cleo"], True),
        (["ann", "bob", "cleo"], "ann", ["bob"], False),
        ([NOBODY], NOBODY, [], False),
        (["ann"], NOBODY, [], False),
        (["ann"], NOBODY, ["ann"], False),
        (["ann"], NOBODY, [EVERYONE], True),
    ],
)
def test_all_of_an_audience_are_the_owner_or_were_told(audience, user_id, shared_with, known):
    assert may_know(audience, user_id, shared_with) is known


@given(people, people, person, st.sets(st.one_of(person, st.just(EVERYONE))))
def test_what_many_may_know_each_of_them_may_know(audience, more, user_id, shared_with):
    if may_know(audience | more, user_id, shared_with):
        assert may_know(audience, user_id, shared_with)


@given(people.filter(bool), person)
def test_what_is_private_is_known_to_its_owner_alone(audience, user_id):
    assert may_know(audience, user_id, ()) is (audience == {user_id})


@given(people, person, people, person)
def test_telling_one_more_takes_it_from_nobody(audience, user_id, shared_with, told):
    if may_know(audience, user_id, shared_with):
        assert may_know(audience, user_id, shared_with | {told})


@given(people, people.filter(bool))
def test_what_is_nobodys_is_known_to_nobody_unless_to_everyone(audience, shared_with):
    assert not may_know(audience, NOBODY, shared_with)
    assert may_know(audience, NOBODY, {*shared_with, EVERYONE})


def test_the_others_are_each_named_once_in_order():
    assert others("ann", ["cleo", "ann", "bob", "cleo"]) == ("bob", "cleo")
    assert others("ann", ["ann"]) == others("ann", []) == ()


def test_what_somebody_else_may_know_is_shared():
    assert [visibility_of(shared) for shared in ((), ("bob",), (EVERYONE,))] == ["private", "shared", "shared"]
