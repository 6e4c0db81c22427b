"""Slots and preferences belong to people: each person's are their own, and others know what was shared with them."""

from dataclasses import replace

import pytest

from soulgraph.errors import InvalidInput, NotFound
from soulgraph.soul.people import EVERYONE, NOBODY
from soulgraph.stores.memory import FACT_SLOTS, user_name
from soulgraph.tests.stores.samples import NOW, preference, slot, soul

ANN, BOB, CLEO = "ann", "bob", "cleo"
OWNERS = {
    1: (ANN, ()),
    2: (ANN, (BOB,)),
    3: (ANN, (BOB, CLEO)),
    4: (ANN, (EVERYONE,)),
    5: (BOB, ()),
    6: (NOBODY, ()),
    7: (NOBODY, (BOB,)),
    8: (NOBODY, (EVERYONE,)),
}


@pytest.fixture(params=["slots", "preferences"])
async def rows(request, home):
    """The name of the repository, and rows by number: `name_of` says what each is called."""
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
        for n, (user_id, shared_with) in OWNERS.items():
            for soul_id in ("soul_1", "soul_2"):
                await getattr(tx, request.param).put(made(request.param, n, user_id, shared_with, soul_id))
    return request.param


def made(kind, n, user_id, shared_with=(), soul_id="soul_1"):
    owner = {"user_id": user_id, "shared_with": shared_with}
    return slot(n, soul_id=soul_id, **owner) if kind == "slots" else preference(str(n), soul_id, **owner)


def name_of(kind, n):
    return n if kind == "slots" else str(n)


def numbers(found):
    return [int(getattr(one, "n", None) or one.key) for one in found]


@pytest.mark.parametrize(
    ("audience", "known"),
    [
        ([ANN], [1, 2, 3, 4, 8]),
        ([BOB], [2, 3, 4, 5, 8]),
        ([CLEO], [3, 4, 8]),
        (["Ann"], [4, 8]),
        (["an"], [4, 8]),
        ([ANN, BOB], [2, 3, 4, 8]),
        ([BOB, ANN], [2, 3, 4, 8]),
        ([BOB, CLEO], [3, 4, 8]),
        ([ANN, BOB, CLEO], [3, 4, 8]),
        ([ANN, BOB, CLEO, "dan"], [4, 8]),
    ],
)
async def test_an_audience_knows_what_all_of_it_may_know(home, rows, audience, known):
    async with home.read() as tx:
        for speaker in audience:
            assert numbers(await getattr(tx, rows).known_to("soul_1", audience, speaker)) == known
        assert await getattr(tx, rows).known_to("nobody", audience, audience[0]) == []


async def test_everybodys_are_listed_for_an_owner_and_each_persons_for_them(home, rows):
    async with home.read() as tx:
        repository = getattr(tx, rows)
        assert numbers(await repository.all("soul_1")) == [*OWNERS]
        assert numbers(await repository.of("soul_1", ANN)) == [1, 2, 3, 4]
        assert numbers(await repository.of("soul_1", BOB)) == [5]
        assert numbers(await repository.of("soul_1", NOBODY)) == [6, 7, 8]
        assert await repository.of("soul_1", CLEO) == await repository.of("nobody", ANN) == []


async def test_a_row_comes_back_as_it_was_put_and_is_found_for_its_owner_only(home, rows):
    async with home.read() as tx:
        repository = getattr(tx, rows)
        assert await repository.get("soul_1", ANN, name_of(rows, 3)) == made(rows, 3, ANN, (BOB, CLEO))
        for user_id in (BOB, NOBODY, "ANN"):
            with pytest.raises(NotFound):
                await repository.get("soul_1", user_id, name_of(rows, 3))


async def test_people_have_rows_of_the_same_name(home, rows):
    async with home.write() as tx:
        repository = getattr(tx, rows)
        await repository.put(made(rows, 1, BOB, (EVERYONE,)))
        assert await repository.get("soul_1", ANN, name_of(rows, 1)) == made(rows, 1, ANN)
        assert numbers(await repository.known_to("soul_1", [ANN], ANN)) == [1, 1, 2, 3, 4, 8]
        assert [one.user_id for one in await repository.known_to("soul_1", [ANN], ANN)][:2] == [ANN, BOB]
        await repository.delete("soul_1", ANN, name_of(rows, 1))
        assert numbers(await repository.of("soul_1", BOB)) == [1, 5]
        with pytest.raises(NotFound):
            await repository.delete("soul_1", ANN, name_of(rows, 1))


async def test_a_row_put_again_is_shared_anew_and_with_nobody_it_is_private_again(home, rows):
    async with home.write() as tx:
        repository = getattr(tx, rows)
        for shared_with, known in (((BOB,), [1]), ((), [])):
            await repository.put(replace(made(rows, 1, ANN), shared_with=shared_with))
            found = await repository.known_to("soul_1", [BOB], BOB)
            assert [n for n in numbers(found) if n == 1] == known


async def test_all_rows_go_with_their_soul(home, rows):
    async with home.write() as tx:
        await tx.souls.delete("soul_1")
        assert await getattr(tx, rows).all("soul_1") == []
        assert numbers(await getattr(tx, rows).all("soul_2")) == [*OWNERS]


async def test_a_person_is_called_what_they_wish(home):
    async with home.write() as tx:
        for user_id, name in ((ANN, "Annie"), ("林", "小林"), (NOBODY, "who?")):
            await tx.preferences.put(preference("address", user_id=user_id, value=name))
        await tx.preferences.put(preference("tea", user_id=BOB))
        assert await tx.preferences.addresses("soul_1") == {ANN: "Annie", "林": "小林"}
        everything = await tx.preferences.all("soul_1")
        assert await tx.preferences.addresses("nobody") == {}
    assert [user_name(everything, user_id) for user_id in (ANN, BOB)] == ["Annie", None]


async def test_each_person_has_all_the_slots(home):
    async with home.write() as tx:
        for n in (0, 2, 15):
            await tx.slots.put(slot(n, user_id=ANN))
        await tx.slots.put(slot(1, user_id=BOB, shared_with=(ANN,)))
        assert await tx.slots.free("soul_1", ANN) == [n for n in FACT_SLOTS if n not in (0, 2)]
        assert await tx.slots.free("soul_1", CLEO) == [*FACT_SLOTS]


async def test_an_id_that_would_be_read_as_two_is_refused(home):
    with pytest.raises(InvalidInput, match="line break"):
        async with home.write() as tx:
            await tx.slots.put(slot(1, user_id=ANN, shared_with=("bob\ncleo",), updated_at=NOW))
