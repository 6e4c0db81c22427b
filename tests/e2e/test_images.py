"""The images of a character over HTTP: stored, served as what they are, and part of the card."""

from io import BytesIO

import pytest
from PIL import Image

from soulgraph.api.images import NAMES
from soulgraph.api.limits import MEBIBYTE
from soulgraph.library.cards.files import read_file
from soulgraph.library.cards.png import without_texts
from soulgraph.soul.emotions import EMOTIONS
from soulgraph.tests.library.cards.samples import V3, png, text_chunk
from soulgraph.tests.library.test_images import picture
from soulgraph.tests.live import new_soul

IMAGES = "/v1/characters/lumen/images"
FILES = {kind: picture(kind) for kind in ("PNG", "JPEG", "WEBP")}


@pytest.fixture
async def lumen(client):
    assert (await client.put("/v1/characters/lumen", json={"name": "Lumen"})).status_code == 200
    return client


async def put(client, name, content, **headers):
    response = await client.put(f"{IMAGES}/{name}", content=content, headers=headers)
    assert response.status_code == 200, response.text
    return response.json()


def refused(response, status, code):
    assert (response.status_code, response.json()["code"]) == (status, code), response.text
    return response.json()["detail"]


async def test_an_image_is_stored_listed_served_replaced_and_deleted(lumen):
    stored = await put(lumen, "avatar", FILES["PNG"])
    assert (stored["name"], stored["content_type"], stored["bytes"]) == ("avatar", "image/png", len(FILES["PNG"]))
    await put(lumen, "joy", FILES["WEBP"])
    await put(lumen, "avatar", FILES["JPEG"])
    listed = (await lumen.get(IMAGES)).json()
    assert [(one["name"], one["content_type"], one["bytes"]) for one in listed] == [
        ("avatar", "image/jpeg", len(FILES["JPEG"])),
        ("joy", "image/webp", len(FILES["WEBP"])),
    ]
    assert (await lumen.get(f"{IMAGES}/avatar")).content == FILES["JPEG"]
    assert (await lumen.delete(f"{IMAGES}/joy")).status_code == 204
    assert [one["name"] for one in (await lumen.get(IMAGES)).json()] == ["avatar"]
    refused(await lumen.get(f"{IMAGES}/joy"), 404, "not_found")
    refused(await lumen.delete(f"{IMAGES}/joy"), 404, "not_found")


@pytest.mark.parametrize("kind", FILES)
async def test_an_image_is_served_as_what_it_is_whatever_its_sender_called_it(lumen, kind):
    await put(lumen, "avatar", FILES[kind], **{"content-type": "text/html"})
    served = await lumen.get(f"{IMAGES}/avatar")
    assert served.headers["content-type"] == f"image/{kind.lower()}"
    assert served.headers["x-content-type-options"] == "nosniff"
    assert served.content == FILES[kind]
    again = await lumen.get(f"{IMAGES}/avatar", headers={"if-none-match": served.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    await put(lumen, "avatar", picture("PNG", (9, 9)))
    changed = await lumen.get(f"{IMAGES}/avatar", headers={"if-none-match": served.headers["etag"]})
    assert changed.status_code == 200


async def test_every_emotion_may_have_its_face(lumen):
    assert {*EMOTIONS, "avatar"} == {*NAMES}
    for name in ("neutral", "disappointment"):
        await put(lumen, name, FILES["PNG"])
    assert (await lumen.get("/v1/characters/lumen")).json()["images"] == ["disappointment", "neutral"]
    [listed] = [one for one in (await lumen.get("/v1/characters")).json() if one["id"] == "lumen"]
    assert listed["images"] == ["disappointment", "neutral"]


async def test_a_character_is_sent_back_as_it_was_read_and_keeps_its_images(lumen):
    await put(lumen, "avatar", FILES["PNG"])
    read = (await lumen.get("/v1/characters/lumen")).json()
    edited = await lumen.put("/v1/characters/lumen", json={**read, "description": "Keeps the light."})
    assert (edited.status_code, edited.json()["images"]) == (200, ["avatar"])


@pytest.mark.parametrize("name", ["hungry", "Avatar", "joy.png", "%2e%2e", "高兴", "a" * 200])
async def test_there_are_no_other_names(lumen, name):
    for response in (await lumen.get(f"{IMAGES}/{name}"), await lumen.put(f"{IMAGES}/{name}", content=FILES["PNG"])):
        assert response.status_code in (404, 422)
    assert (await lumen.get(IMAGES)).json() == []


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"", 422, "invalid_input"),
        (b"GIF89a" + b"\0" * 50, 415, "unsupported_media"),
        (b"<svg onload='alert(1)'/>", 415, "unsupported_media"),
        (b'{"name": "x"}', 415, "unsupported_media"),
        (FILES["PNG"][:40], 422, "invalid_input"),
        (FILES["JPEG"][:100], 422, "invalid_input"),
        (FILES["PNG"][:30] + b"\0" + FILES["PNG"][31:], 422, "invalid_input"),
        (b"\xff\xd8\xff" + bytes(range(256)), 422, "invalid_input"),
        (FILES["PNG"] + b"\0" * 4 * MEBIBYTE, 413, "body_too_large"),
    ],
)
async def test_what_is_no_picture_is_refused_and_the_old_one_stays(lumen, content, status, code):
    await put(lumen, "avatar", FILES["PNG"])
    refused(await lumen.put(f"{IMAGES}/avatar", content=content), status, code)
    assert (await lumen.get(f"{IMAGES}/avatar")).content == FILES["PNG"]


async def test_a_character_that_does_not_exist_has_no_images(client):
    path = "/v1/characters/nobody/images"
    refused(await client.get(path), 404, "not_found")
    refused(await client.get(f"{path}/avatar"), 404, "not_found")
    refused(await client.put(f"{path}/avatar", content=FILES["PNG"]), 404, "not_found")
    refused(await client.delete(f"{path}/avatar"), 404, "not_found")


async def test_the_picture_of_a_card_is_the_avatar_and_the_avatar_that_of_the_card(client):
    made = await client.post("/v1/characters/import", content=png(text_chunk(b"ccv3", V3)))
    assert made.json()["images"] == ["avatar"]
    character = f"/v1/characters/{made.json()['id']}"
    shown = await client.get(f"{character}/images/avatar")
    assert (shown.headers["content-type"], shown.content) == ("image/png", png())
    assert (await client.put(f"{character}/images/avatar", content=FILES["JPEG"])).status_code == 200
    card = (await client.get(f"{character}/card", params={"format": "png"})).content
    assert read_file(card) == V3
    with Image.open(BytesIO(without_texts(card))) as image, Image.open(BytesIO(FILES["JPEG"])) as sent:
        assert image.tobytes() == sent.tobytes()
    await client.delete(f"{character}/images/avatar")
    plain = (await client.get(f"{character}/card", params={"format": "png"})).content
    assert read_file(plain) == V3


async def test_a_soul_that_is_saved_as_a_character_keeps_the_images(lumen):
    await put(lumen, "avatar", FILES["PNG"])
    await put(lumen, "joy", FILES["WEBP"])
    soul_id = await new_soul(lumen, "Lu", character_id="lumen")
    saved = await lumen.post(f"/v1/souls/{soul_id}/character", json={"id": "lu"})
    assert saved.json()["images"] == ["avatar", "joy"]
    assert (await lumen.get("/v1/characters/lu/images/joy")).content == FILES["WEBP"]


async def test_images_go_with_their_character(lumen):
    await put(lumen, "avatar", FILES["PNG"])
    await lumen.delete("/v1/characters/lumen")
    await lumen.put("/v1/characters/lumen", json={"name": "Lumen"})
    assert (await lumen.get(IMAGES)).json() == []
