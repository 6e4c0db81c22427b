"""Files of other programs over HTTP: what they bring is kept, shown and lived by."""

import json

import pytest

from soulgraph.soul.emotions import EMOTIONS
from soulgraph.tests.library.cards.programs import cases, file_of, picture
from soulgraph.tests.library.cards.samples import charx
from soulgraph.tests.live import new_soul

BY_NAME = {case["name"]: case for half in ("open", "held") for case in cases(half)}
SHY = {"name": "Mira", "description": "A shy, quiet dreamer. Gentle and empathetic. She never plans anything."}


async def imported(client, content):
    response = await client.post("/v1/characters/import", content=content)
    assert response.status_code == 201, response.text
    return response.json()


async def card(client, **fields):
    return await imported(client, json.dumps(fields).encode())


def refused(response, word, status=422):
    assert (response.status_code, response.json()["code"]) == (status, "invalid_input"), response.text
    assert word in response.json()["detail"]


async def test_the_faces_of_a_charx_are_images_of_the_character(client):
    made = await imported(client, file_of(BY_NAME["charx of RisuAI with emotions, a background and a module"]))
    assert made["images"] == ["avatar", "frustration", "joy"]
    path = f"/v1/characters/{made['id']}/images"
    assert (await client.get(f"{path}/joy")).content == picture("PNG")
    assert (await client.get(f"{path}/frustration")).headers["content-type"] == "image/webp"
    assert any("annoyance): kept as frustration" in note for note in made["notes"])


@pytest.mark.parametrize("name", [name for name, case in BY_NAME.items() if case["as"] in ("yaml", "webp", "jpeg")])
async def test_a_card_in_another_container_can_be_exported(client, name):
    made = await imported(client, file_of(BY_NAME[name]))
    exported = await client.get(f"/v1/characters/{made['id']}/card", params={"format": "png"})
    assert (await imported(client, exported.content))["base_persona"] == made["base_persona"]


async def test_an_expression_pack_is_stored_by_what_it_shows(client):
    await client.put("/v1/characters/lumen", json={"name": "Lumen"})
    files = {
        "Lumen/joy.png": picture("PNG"),
        "Lumen/amusement.webp": picture("WEBP"),
        "Lumen/grief-1.jpg": picture("JPEG"),
        "Lumen/nervousness.png": picture("PNG"),
        "Lumen/outfit.png": picture("PNG"),
        "Lumen/notes.txt": b"made by hand",
        "Lumen/anger.gif": b"GIF89a",
        "__MACOSX/Lumen/joy.png": b"?",
    }
    answer = await client.post("/v1/characters/lumen/images/import", content=charx([*files.items()]))
    assert answer.status_code == 201, answer.text
    assert [one["name"] for one in answer.json()["images"]] == ["anxiety", "joy", "sadness"]
    assert sorted(answer.json()["notes"]) == [
        "Lumen/amusement.webp: not kept, because there is another picture for joy",
        "Lumen/anger.gif: the picture is not kept: the file is no picture that every browser shows: "
        "send PNG, JPEG or WebP",
        "Lumen/grief-1.jpg: kept as sadness",
        "Lumen/nervousness.png: kept as anxiety",
        "Lumen/notes.txt: not kept, because no emotion of ours is called so: rename it to one",
        "Lumen/outfit.png: not kept, because no emotion of ours is called so: rename it to one",
    ]
    assert (await client.get("/v1/characters/lumen")).json()["images"] == ["anxiety", "joy", "sadness"]


async def test_what_is_no_pack_is_refused_and_changes_nothing(client):
    path = "/v1/characters/lumen/images/import"
    await client.put("/v1/characters/lumen", json={"name": "Lumen"})
    for content, word in (
        (b"", "no zip archive"),
        (picture("PNG"), "no zip archive"),
        (charx([]), "it is empty"),
        (charx([("outfit.png", picture("PNG"))]), "name the files like joy.png"),
        (charx([("../joy.png", picture("PNG"))]), "outside"),
        (charx([("joy.png", b"no picture")]), "is not kept"),
    ):
        refused(await client.post(path, content=content), word)
    assert (await client.get("/v1/characters/lumen")).json()["images"] == []
    missing = await client.post("/v1/characters/nobody/images/import", content=charx([("joy.png", picture("PNG"))]))
    assert missing.status_code == 404


async def test_a_pack_of_every_emotion_gives_every_face(client):
    await client.put("/v1/characters/lumen", json={"name": "Lumen"})
    files = [(f"{name}.png", picture("PNG")) for name in EMOTIONS]
    answer = await client.post("/v1/characters/lumen/images/import", content=charx(files))
    assert ([one["name"] for one in answer.json()["images"]], answer.json()["notes"]) == (sorted(EMOTIONS), [])


async def test_a_type_is_suggested_and_a_soul_without_one_gets_it(client):
    made = await card(client, **SHY)
    suggested = (await client.get(f"/v1/characters/{made['id']}/mbti")).json()
    assert suggested == made["mbti_suggestion"]
    assert suggested["mbti_type"] == "INFP" and suggested["confidence"] >= 0.3
    assert "shy" in suggested["why"][0]
    body = {"name": "Mira", "character_id": made["id"]}
    soul = await client.post("/v1/souls", json=body)
    assert (soul.status_code, soul.json()["mbti_type"]) == (201, "INFP")
    assert (await client.post("/v1/souls", json={**body, "name": "B", "mbti_type": "ESTJ"})).json()[
        "mbti_type"
    ] == "ESTJ"


async def test_the_type_that_a_character_has_counts(client):
    await client.put("/v1/characters/lumen", json={"name": "Lumen", "mbti_type": "ISTJ", "base_persona": "An ENFP."})
    suggested = (await client.get("/v1/characters/lumen/mbti")).json()
    assert suggested == {"mbti_type": "ISTJ", "confidence": 1.0, "why": ["the character has it"]}
    assert (await client.post("/v1/souls", json={"name": "Lu", "character_id": "lumen"})).json()["mbti_type"] == "ISTJ"


async def test_a_type_that_nothing_says_is_asked_for(client):
    made = await card(client, name="Postman", description="He is 1.80 m tall and owns a blue bicycle.")
    assert made["mbti_suggestion"]["confidence"] < 0.3
    refused(await client.post("/v1/souls", json={"name": "P", "character_id": made["id"]}), "mbti_type")
    refused(await client.post("/v1/souls", json={"name": "P"}), "mbti_type")
    missing = await client.post("/v1/souls", json={"name": "P", "character_id": "nobody"})
    assert missing.status_code == 404
    assert await new_soul(client, "P", character_id=made["id"])
