"""Lore over HTTP, many entries at once: lorebooks of other programs, and the whole list in a new order."""

import json

import pytest

from soulgraph.api.limits import MEBIBYTE
from soulgraph.tests.library.cards.samples import V3, as_bytes, charx, png, text_chunk
from soulgraph.tests.library.test_lorebooks import entry, world
from soulgraph.tests.live import new_soul, say

PRESETS = ("/v1/characters/lumen", "/v1/backgrounds/sea")


@pytest.fixture
async def shelf(client):
    for preset in PRESETS:
        assert (await client.put(preset, json={"name": "Lumen"})).status_code == 200
    return client


async def imported(client, data, preset=PRESETS[0]):
    content = data if isinstance(data, bytes) else json.dumps(data).encode()
    response = await client.post(f"{preset}/lore/import", content=content)
    assert response.status_code == 201, response.text
    return response.json()


async def lore(client, preset=PRESETS[0]):
    return (await client.get(f"{preset}/lore")).json()


def refused(response, status=422, code="invalid_input"):
    assert (response.status_code, response.json()["code"]) == (status, code), response.text
    return response.json()["detail"]


@pytest.mark.parametrize("preset", PRESETS)
async def test_a_lorebook_is_added_behind_what_is_there(shelf, preset):
    await shelf.post(f"{preset}/lore", json={"id": "The_Reef", "keys": ["x"], "content": "Older."})
    book = world(entry(comment="The Reef", content="{{char}} fears it."), entry(comment="Lamp", key=["lamp"]))
    assert await imported(shelf, book, preset) == {"added": 2, "notes": []}
    name = "Lumen" if "characters" in preset else "the character"
    assert [(one["id"], one["content"]) for one in await lore(shelf, preset)] == [
        ("The_Reef", "Older."),
        ("The_Reef.2", f"{name} fears it."),
        ("Lamp", "Ships."),
    ]


async def test_a_book_that_is_there_already_is_not_added_again(shelf):
    book = world(entry(), entry(key=["lamp"]), entry())
    first = await imported(shelf, book)
    assert first == {"added": 2, "notes": ["there already, and not added again (entries: 1)"]}
    before = await lore(shelf)
    await shelf.put(f"{PRESETS[0]}/lore", json=[{**one, "enabled": False, "priority": 7} for one in reversed(before)])
    assert (await imported(shelf, book))["added"] == 0
    assert len(await lore(shelf)) == 2


@pytest.mark.parametrize(
    "content",
    [as_bytes(V3), png(text_chunk(b"ccv3", V3)), charx([("card.json", as_bytes(V3))])],
    ids=["json", "png", "charx"],
)
async def test_the_book_of_a_card_comes_without_the_card(shelf, content):
    added = await imported(shelf, content)
    assert added["added"] == len(await lore(shelf)) >= 2
    assert (await shelf.get(PRESETS[0])).json()["base_persona"] == ""


async def test_a_soul_knows_what_was_imported(modelled, stub):
    await modelled.put("/v1/characters/lumen", json={"name": "Lumen"})
    await imported(modelled, world(entry(content="The reef took three ships.")))
    soul_id = await new_soul(modelled, "Lu", character_id="lumen")
    await say(modelled, "Tell me of the reef", soul_id=soul_id)
    assert "The reef took three ships." in str(stub.requests[-1].body)


async def test_what_of_an_entry_cannot_be_kept_is_cut_and_named(shelf):
    book = world(
        entry(comment="Long", content="x" * 4001),
        entry(comment="Slow", key=["/(a+)+$/"]),
        entry(comment="NUL", content="a\0b"),
        entry(comment="Fine"),
    )
    added = await imported(shelf, book)
    assert added["added"] == 4
    assert [(len(one["content"]), one["keys"]) for one in await lore(shelf)][:3] == [
        (4000, ["reef"]),
        (6, []),
        (2, ["reef"]),
    ]
    cleaned, cut, slow = added["notes"]
    assert cleaned == "entries.2.content: characters that cannot be stored were left out"
    assert cut == "entries.0 (Long): 4,000 of 4,001 characters are kept, at most 4,000 can be"
    assert slow.startswith("entries.1 (Slow).keys: '(a+)+$' is left out, because it takes too long")


async def test_more_than_there_is_room_for_is_left_out_and_told(shelf):
    await shelf.post(f"{PRESETS[0]}/lore", json={"id": "old", "keys": ["x"], "content": "Older."})
    book = world(*(entry(content=f"number {n}") for n in range(500)))
    added = await imported(shelf, book)
    assert added["added"] == 499
    assert added["notes"] == ["left out, because at most 500 entries can be kept: delete some first (entries: 1)"]
    assert len(await lore(shelf)) == 500
    assert (await imported(shelf, book, PRESETS[1])) == {"added": 500, "notes": []}


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"", 422, "invalid_input"),
        (b"no json", 422, "invalid_input"),
        (b"[]", 422, "invalid_input"),
        (b'{"entries": ', 422, "invalid_input"),
        (b'{"entries": {}}', 422, "invalid_input"),
        (b'{"a":' * 200_000, 422, "invalid_input"),
        (b"\xff\xfe{}", 422, "invalid_input"),
        (b'{"entries": "' + b"x" * 3 * MEBIBYTE + b'"}', 422, "invalid_input"),
        (b" " * (20 * MEBIBYTE + 1), 413, "body_too_large"),
        (png(), 422, "invalid_input"),
        (b"PK\x03\x04 no archive", 422, "invalid_input"),
    ],
)
async def test_a_file_that_is_no_lorebook_is_refused(shelf, content, status, code):
    refused(await shelf.post(f"{PRESETS[0]}/lore/import", content=content), status, code)
    assert await lore(shelf) == []


async def test_what_does_not_exist_takes_no_lore(client):
    body = json.dumps(world(entry())).encode()
    for preset in ("/v1/characters/nobody", "/v1/backgrounds/nowhere"):
        refused(await client.post(f"{preset}/lore/import", content=body), 404, "not_found")
        refused(await client.put(f"{preset}/lore", json=[]), 404, "not_found")


@pytest.mark.parametrize("preset", PRESETS)
async def test_the_whole_list_is_replaced_and_keeps_its_order(shelf, preset):
    wanted = [{"id": name, "keys": [name], "content": name, "priority": n} for n, name in enumerate("cab")]
    put = await shelf.put(f"{preset}/lore", json=wanted)
    assert put.status_code == 200, put.text
    assert put.json() == await lore(shelf, preset)
    assert [one["id"] for one in put.json()] == ["c", "a", "b"]
    reordered = [*reversed(put.json()), {"keys": ["new"], "content": "new"}]
    again = (await shelf.put(f"{preset}/lore", json=reordered)).json()
    assert [one["id"] for one in again][:3] == ["b", "a", "c"]
    assert again[3]["id"].startswith("lore_")
    assert (await shelf.put(f"{preset}/lore", json=[])).json() == []


async def test_a_list_that_cannot_be_kept_changes_nothing(shelf):
    before = (await shelf.put(f"{PRESETS[0]}/lore", json=[{"id": "a", "content": "x", "constant": True}])).json()
    fine = {"id": "b", "content": "x"}
    for body in (
        {},
        "text",
        None,
        [fine, fine],
        [fine, {"id": "c", "content": ""}],
        [fine, {"id": "no way", "content": "x"}],
        [{**fine, "keys": "x"}],
        [{**fine, "keys": ["("], "use_regex": True}],
        [{**fine, "content": "nul \x00"}],
        [{"id": f"n{n}", "content": "x"} for n in range(501)],
    ):
        refused(await shelf.put(f"{PRESETS[0]}/lore", json=body))
    assert await lore(shelf) == before


async def test_an_edit_of_a_list_that_has_changed_is_refused(shelf):
    revision = (await shelf.get(PRESETS[0])).json()["revision"]
    path = f"{PRESETS[0]}/lore"
    assert (await shelf.put(path, json=[{"content": "x"}], params={"revision": revision})).status_code == 200
    refused(await shelf.put(path, json=[], params={"revision": revision}), 409, "changed_meanwhile")
    assert len(await lore(shelf)) == 1


async def test_as_much_lore_as_may_be_kept_can_be_sent_and_sent_back(shelf):
    """500 entries of 1500 Chinese characters are more than other bodies may have."""
    wanted = [{"id": f"n{n}", "content": "海" * 1500} for n in range(500)]
    body = json.dumps(wanted, ensure_ascii=False).encode()
    assert len(body) > 2 * MEBIBYTE
    put = await shelf.put(f"{PRESETS[1]}/lore", content=body, headers={"content-type": "application/json"})
    assert put.status_code == 200, put.text
    whole = (await shelf.get(PRESETS[1])).content
    back = await shelf.put(PRESETS[1], content=whole, headers={"content-type": "application/json"})
    assert back.status_code == 200, back.text
