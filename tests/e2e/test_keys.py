"""API keys over HTTP: the first closes an open server, and nothing opens it again."""

import json

import pytest

from soulgraph.runtime.ports import open_stores
from soulgraph.server import open_services
from soulgraph.settings import Settings
from soulgraph.tests.e2e import keyring
from soulgraph.tests.e2e.keyring import NOW, bearer, build, problem
from soulgraph.tests.live import serving


@pytest.fixture
async def home(tmp_path):
    async with keyring.home(tmp_path) as clients:
        yield clients


async def test_a_key_made_on_an_open_server_closes_it_at_once(client):
    assert (await client.get("/v1/me")).json() == {
        "open": True,
        "scope": "owner",
        "user_id": None,
        "souls": None,
        "key_id": None,
        "name": "",
    }
    key = (await client.post("/v1/keys", json={"name": "mine", "scope": "owner"})).json()
    assert problem(await client.get("/v1/souls")) == (401, "unauthorized")
    me = (await client.get("/v1/me", headers=bearer(key["secret"]))).json()
    assert (me["open"], me["key_id"], me["name"]) == (False, key["key_id"], "mine")


async def test_a_key_made_by_the_command_line_closes_a_running_server(tmp_path):
    async with serving(data_dir=tmp_path) as client:
        assert (await client.get("/v1/souls")).status_code == 200
        async with open_stores(Settings.load(data_dir=tmp_path)) as stores, stores.write() as tx:
            key = await tx.keys.create("cli", "chat", NOW)
        assert (await client.get("/v1/souls")).status_code == 401
        assert (await client.get("/v1/souls", headers=bearer(key))).status_code == 200


async def test_revoking_the_last_key_refuses_everybody_also_after_a_restart(tmp_path, caplog):
    async with serving(data_dir=tmp_path) as client:
        key = (await client.post("/v1/keys", json={"name": "mine", "scope": "owner"})).json()
        client.headers.update(bearer(key["secret"]))
        refused = await client.delete(f"/v1/keys/{key['key_id']}")
        assert problem(refused) == (409, "last_owner_key")
        assert "force=true" in refused.json()["detail"]
        forced = await client.delete(f"/v1/keys/{key['key_id']}", params={"force": True})
        assert forced.status_code == 204
        assert (await client.get("/v1/souls")).status_code == 401
        del client.headers["Authorization"]
        assert (await client.get("/v1/souls")).status_code == 401
    caplog.set_level("INFO", "soulgraph")
    async with open_services(Settings.load(data_dir=tmp_path, mqtt_url="none")):
        pass
    assert "everybody is refused, because every API key is revoked" in caplog.text
    assert "soulgraph key create NAME --scope owner" in caplog.text
    async with serving(data_dir=tmp_path) as client:
        assert (await client.get("/v1/souls")).status_code == 401


async def test_an_owner_reads_keys_without_their_secrets_and_revokes_them(home):
    owner, ann, _bob, soul_id = home
    new = {"name": "lamp", "scope": "terminal", "user_id": "ann", "soul_ids": [soul_id]}
    key = (await owner.post("/v1/keys", json=new)).json()
    secret = key.pop("secret")
    assert {name: key[name] for name in new} == new
    assert (await owner.get(f"/v1/keys/{key['key_id']}")).json() == key
    listed = (await owner.get("/v1/keys")).json()
    assert [one["name"] for one in listed] == ["owner", "ann", "bob", "lamp"]
    assert "secret" not in json.dumps(listed)
    me = (await owner.get("/v1/me", headers=bearer(secret))).json()
    assert (me["scope"], me["user_id"], me["souls"]) == ("terminal", "ann", [soul_id])
    assert (await owner.delete(f"/v1/keys/{key['key_id']}")).status_code == 204
    assert problem(await owner.get("/v1/me", headers=bearer(secret))) == (401, "unauthorized")
    assert problem(await owner.delete(f"/v1/keys/{key['key_id']}")) == (404, "not_found")
    assert problem(await ann.get("/v1/keys")) == (403, "forbidden")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": "x", "scope": "chat", "user_id": "has spaces"}, 422),
        ({"name": "x", "scope": "chat", "user_id": "**"}, 422),
        ({"name": "x", "scope": "owner", "user_id": "ann"}, 422),
        ({"name": "x", "scope": "king"}, 422),
        ({"name": "", "scope": "chat"}, 422),
        ({"name": "x", "scope": "chat", "soul_ids": ["nobody"]}, 404),
    ],
)
async def test_a_bad_key_is_not_made(client, body, status):
    assert (await client.post("/v1/keys", json=body)).status_code == status
    assert (await client.get("/v1/me")).json()["open"], "the server is still open"


async def test_an_owner_of_one_soul_makes_no_keys_and_no_souls(tmp_path):
    """Else it could make itself a key for all souls."""
    house = await build(tmp_path)
    async with serving(data_dir=tmp_path) as client:
        client.headers.update(house.headers("owner, soul 1"))
        refused = await client.post("/v1/keys", json={"name": "x", "scope": "owner"})
        assert problem(refused) == (403, "forbidden")
        assert "owner key for all souls" in refused.json()["detail"]
        souls = (await client.get("/v1/souls")).json()
        assert [soul["soul_id"] for soul in souls] == house.souls[:1]
        assert [one["id"] for one in (await client.get("/v1/models")).json()["data"]] == ["soul:Soul 0"]
        assert {one["session_id"] for one in (await client.get("/v1/sessions")).json()} == {"ann-0", "bob-0"}
        assert [one["terminal_id"] for one in (await client.get("/v1/terminals")).json()] == ["lamp-0"]
