"""Sockets and streams that listen to a soul: what they hear, what they hear again, and what is not theirs to hear."""

import json

import pytest

from soulgraph.api import websocket
from soulgraph.tests.e2e.keyring import build, home
from soulgraph.tests.e2e.sockets import line
from soulgraph.tests.e2e.streams import told
from soulgraph.tests.live import new_soul, say, serving

TICK_S = 2.0


async def listen(socket, soul_id, **fields):
    """Begin to listen; returns what is answered, what is told again, and how the soul feels."""
    await socket.send(type="listen", soul_id=soul_id, **fields)
    begin = (await socket.until("listening", "error"))[-1]
    assert begin["event"] == "listening", begin
    *again, feeling = await socket.until("emotion_update")
    return begin["data"], again, feeling["data"]


async def heard(socket):
    """Everything that has come by now."""
    await socket.send(type="ping")
    return (await socket.until("pong"))[:-1]


def changes(frames):
    return [(one["data"]["session_id"], one["data"]["reason"]) for one in frames if one["event"] == "session_changed"]


def kinds(frames):
    return {frame["event"] for frame in frames}


async def test_who_listens_is_told_at_once_how_the_soul_feels_and_again_after_every_turn(client):
    soul_id = await new_soul(client)
    async with line(client) as socket:
        begin, again, feeling = await listen(socket, soul_id)
        now = (await client.get(f"/v1/souls/{soul_id}/emotion")).json()
        assert (begin["soul_id"], begin["missed"], again) == (soul_id, False, [])
        assert feeling.keys() == now.keys()
        assert feeling["gate"].keys() == now["gate"].keys()
        assert feeling["mood"] == now["mood"]
        answer = await say(client, "我恨你！你这个垃圾！", soul_id=soul_id, session_id="s")
        *moods, changed = await socket.until("session_changed")
        [moved] = [one for one in moods if one["data"]["soul_emotion"] == answer["soul_emotion"]]
        assert (moved["event"], "id" in moved, "user_emotion" in moved["data"]) == ("emotion_update", False, False)
        ids = {"soul_id": soul_id, "session_id": "s", "turn_id": answer["turn_id"]}
        assert changed == {"event": "session_changed", "id": changed["id"], "data": {**ids, "reason": "turn"}}


async def test_a_turn_of_its_own_is_not_told_twice_and_its_mood_is(client):
    soul_id = await new_soul(client)
    async with line(client) as socket:
        await listen(socket, soul_id)
        await socket.chat("谢谢你", soul_id=soul_id, session_id="s")
        own = await socket.until("done") + await heard(socket)
        assert kinds(own) - {"waiting"} == {"emotion", "emotion_update", "token", "done"}
        await say(client, "再次谢谢", soul_id=soul_id, session_id="s")
        assert changes(await heard(socket)) == [("s", "turn")]


async def test_what_happened_meanwhile_is_told_once_and_in_order_after_a_reconnect(client):
    soul_id, other = await new_soul(client), await new_soul(client, "other")
    async with line(client) as socket:
        begin, _, _ = await listen(socket, soul_id)
        await say(client, "hi", soul_id=soul_id, session_id="s")
        [first] = [one for one in await heard(socket) if one["event"] == "session_changed"]
    await say(client, "hello", soul_id=soul_id, session_id="s")
    await say(client, "hello", soul_id=other, session_id="elsewhere")
    await client.patch("/v1/sessions/s", json={"title": "rain"})
    async with line(client) as socket:
        resumed, again, _ = await listen(socket, soul_id, after=first["id"])
        assert (resumed["missed"], changes(again)) == (False, [("s", "turn"), ("s", "title")])
        assert resumed["last_event_id"] == first["id"], "who breaks off now has to go on from there"
        await client.delete("/v1/sessions/s")
        news = await heard(socket)
        assert changes(news) == [("s", "deleted")]
        _, all_again, _ = await listen(socket, soul_id, after=begin["last_event_id"])
        assert changes(all_again) == [("s", "turn"), ("s", "turn"), ("s", "title"), ("s", "deleted")]
        before = (first, *again, *news)
        assert [one["id"] for one in all_again] == [one["id"] for one in before if "id" in one]
        assert (await listen(socket, soul_id, after=all_again[-1]["id"]))[1] == []


async def test_a_stream_goes_on_after_the_last_event_id_that_it_is_given(client):
    soul_id = await new_soul(client)
    path = f"/v1/souls/{soul_id}/stream"
    async with client.stream("GET", path) as response:
        events = told(response)
        begin, feeling = await anext(events), await anext(events)
        assert (begin.event, begin.id, feeling.event, feeling.id) == (
            "listening",
            begin.data["last_event_id"],
            "emotion_update",
            None,
        )
    await say(client, "hi", soul_id=soul_id, session_id="s")
    async with client.stream("GET", path, headers={"Last-Event-ID": begin.id}) as response:
        events = told(response)
        begin, again = await anext(events), await anext(events)
        assert begin.data["missed"] is False
        assert (again.event, again.data["reason"]) == ("session_changed", "turn")
    async with client.stream("GET", path, headers={"Last-Event-ID": "of-another-server-7"}) as response:
        assert (await anext(told(response))).data["missed"] is True


async def test_what_a_server_told_before_it_was_restarted_is_missed(tmp_path):
    async with serving(data_dir=tmp_path) as client, line(client) as socket:
        soul_id = await new_soul(client)
        begin, _, _ = await listen(socket, soul_id)
    async with serving(data_dir=tmp_path) as client, line(client) as socket:
        for unknown in (begin["last_event_id"], "", "nonsense", begin["last_event_id"] + "0"):
            resumed, again, _ = await listen(socket, soul_id, after=unknown)
            assert (resumed["missed"], again) == (True, []), unknown
        resumed, _, _ = await listen(socket, soul_id, after=resumed["last_event_id"])
        assert resumed["missed"] is False


async def test_time_passes_for_a_soul_that_has_listeners_and_no_terminal_and_nothing_is_stored(tmp_path):
    async with serving(data_dir=tmp_path, tick_s=TICK_S) as client, line(client) as socket, line(client) as silent:
        soul_id = await new_soul(client, mbti_type="INFP")
        await say(client, "我恨你！你这个垃圾！滚！", soul_id=soul_id)
        stored = (await client.get(f"/v1/souls/{soul_id}")).json()
        _, _, feeling = await listen(socket, soul_id)
        await listen(silent, soul_id)
        await silent.send(type="unlisten", soul_id=soul_id)
        assert await silent.frame() == {"event": "unlistened", "data": {"soul_id": soul_id}}
        first, second = [(await socket.until("emotion_update"))[-1]["data"] for _ in range(2)]
        assert feeling["at"] < first["at"] < second["at"]
        assert feeling["soul_emotion"]["p"] < first["soul_emotion"]["p"] < second["soul_emotion"]["p"]
        assert (await client.get(f"/v1/souls/{soul_id}")).json() == stored
        assert await heard(silent) == []


async def test_that_a_terminal_comes_and_goes_is_told_to_everybody_who_listens(tmp_path, clock):
    house = await build(tmp_path)
    soul_id = house.souls[0]
    async with (
        serving(clock=clock, data_dir=tmp_path, tick_s=TICK_S) as client,
        line(client, additional_headers=house.headers("ann")) as socket,
    ):
        client.headers.update(house.headers("owner"))
        begin, _, _ = await listen(socket, soul_id)
        await socket.until("emotion_update")  # a tick has seen who is online
        await client.post("/v1/terminals/lamp-0/heartbeat")
        came = (await socket.until("presence"))[-1]
        clock.now += 61
        went = (await socket.until("presence"))[-1]
        again = (await listen(socket, soul_id, after=begin["last_event_id"]))[1]
    assert [came["data"][name] for name in ("soul_id", "terminal_id", "online")] == [soul_id, "lamp-0", True]
    assert went["data"] == {**came["data"], "online": False, "at": "2027-01-15T12:01:01.000Z"}
    assert again == [came, went]


async def test_a_changed_conversation_is_told_to_its_people_and_owners_and_to_no_stranger(tmp_path):
    house = await build(tmp_path)
    soul_id, session, ann = house.souls[0], "ann-0", house.headers("ann")
    async with (
        serving(data_dir=tmp_path) as client,
        line(client, additional_headers=ann) as hers,
        line(client, additional_headers=house.headers("owner")) as owners,
        line(client, additional_headers=house.headers("chat")) as strangers,
    ):
        for socket in (hers, owners, strangers):
            await listen(socket, soul_id)
        made = await client.post("/v1/sessions", json={"soul_id": soul_id}, headers=ann)
        new = made.json()["session_id"]
        await client.post("/v1/chat", json={"text": "hi", "session_id": session}, headers=ann)
        await client.put(f"/v1/sessions/{session}/persona-state", json={"mode": "strict"}, headers=ann)
        await client.patch(f"/v1/sessions/{session}", json={"title": "rain"}, headers=ann)
        await client.delete(f"/v1/sessions/{new}", headers=ann)
        expected = [(new, "created"), (session, "turn"), (session, "persona"), (session, "title"), (new, "deleted")]
        assert changes(await heard(hers)) == changes(await heard(owners)) == expected
        assert kinds(await heard(strangers)) == {"emotion_update"}, "how the soul feels is nobody's secret"


async def test_all_of_a_group_hear_that_it_changed_also_who_leaves_and_nothing_after_that(tmp_path):
    async with home(tmp_path) as (owner, ann, bob, soul_id), line(owner, **key(bob)) as socket:
        await listen(socket, soul_id)
        made = await owner.post("/v1/sessions", json={"soul_id": soul_id, "user_id": "ann"})
        group = made.json()["session_id"]
        assert changes(await heard(socket)) == []
        await owner.patch(f"/v1/sessions/{group}", json={"people": ["bob"]})
        await say(ann, "hello everybody", session_id=group)
        assert changes(await heard(socket)) == [(group, "edited"), (group, "turn")]
        await bob.patch(f"/v1/sessions/{group}", json={"people": []})
        await say(ann, "now that he is gone", session_id=group)
        assert changes(await heard(socket)) == [(group, "edited")]


def key(client):
    return {"additional_headers": {"Authorization": client.headers["Authorization"]}}


TURN = ["emotion", "pad_update", "intent_filter", "gate", "recall", "persona_context", "tool_loop", "model", "parse"]
AFTER = ["update_state", "propose", "draw_facts", "archive", "reflect", "maintain", "suggest_update"]


async def nodes_of(socket, last):
    """The node events up to the end of this node."""
    frames = []
    while not frames or (frames[-1]["node"], frames[-1]["phase"]) != (last, "end"):
        frames.append((await socket.until("node"))[-1]["data"])
    return frames


async def test_who_asks_for_them_hears_the_nodes_of_a_turn_and_of_what_follows_it(client):
    soul_id = await new_soul(client)
    async with line(client) as socket, line(client) as quiet:
        await listen(socket, soul_id, nodes=True)
        await listen(quiet, soul_id)
        await socket.chat("hello", soul_id=soul_id, session_id="s")
        frames = await nodes_of(socket, "suggest_update")
        assert "node" not in kinds(await heard(quiet))
        await listen(socket, soul_id)
        await say(client, "hello again", soul_id=soul_id, session_id="s")
        assert "node" not in kinds(await heard(socket)), "the latest `listen` counts"
    assert [one["node"] for one in frames if one["phase"] == "start"] == [*TURN, "writeback", *AFTER]
    assert {one["node"]: one["graph"] for one in frames} == {
        **dict.fromkeys([*TURN, "writeback"], "turn"),
        "model": "tool_loop",
        **dict.fromkeys(AFTER, "afterglow"),
    }
    assert {one["soul_id"] for one in frames} == {soul_id}
    assert {one["session_id"] for one in frames} == {"s"}
    assert len({one["turn_id"] for one in frames}) == 1
    ends = {one["node"]: one for one in frames if one["phase"] == "end"}
    assert all(one["ms"] >= 0 for one in ends.values())
    assert ends["tool_loop"]["ms"] >= ends["model"]["ms"]
    assert ends["writeback"]["update"]["answer"]["session_id"] == "s"
    assert "hello" in json.dumps(ends["persona_context"]["update"]), "an owner sees the prompt"
    assert all(len(json.dumps(one, ensure_ascii=False).encode()) < 17_000 for one in frames)


async def test_only_owners_hear_what_a_node_returned_and_people_only_of_their_own_turns(tmp_path):
    house = await build(tmp_path)
    soul_id, ann = house.souls[0], house.headers("ann")
    async with (
        serving(data_dir=tmp_path) as client,
        line(client, additional_headers=ann) as hers,
        line(client, additional_headers=house.headers("owner")) as owners,
        line(client, additional_headers=house.headers("chat")) as strangers,
    ):
        for socket in (hers, owners, strangers):
            await listen(socket, soul_id, nodes=True)
        await client.post("/v1/chat", json={"text": "hi", "session_id": "ann-0"}, headers=ann)
        outside, inside = await nodes_of(hers, "writeback"), await nodes_of(owners, "writeback")
        assert "node" not in kinds(await heard(strangers))
    assert not any("update" in one for one in outside)
    assert [one | {"update": None} for one in outside] == [one | {"update": None} for one in inside]
    assert all(one["update"] for one in inside if one["phase"] == "end")


async def test_what_may_not_be_heard_is_refused_as_on_a_stream_and_a_revoked_key_is_shut_out(tmp_path):
    house = await build(tmp_path)
    soul_id, other = house.souls
    async with (
        serving(data_dir=tmp_path) as client,
        line(client, additional_headers=house.headers("ann, soul 1")) as socket,
    ):
        for message, code in (
            ({"soul_id": "nobody"}, "not_found"),
            ({"soul_id": other}, "not_found"),
            ({"soul_id": soul_id, "user_id": "bob"}, "forbidden"),
            ({"soul_id": soul_id, "after": 7}, "invalid_input"),
            ({"soul_id": soul_id, "events": "all"}, "invalid_input"),
            ({}, "invalid_input"),
        ):
            assert (await socket.refused(type="listen", **message))["data"]["code"] == code, message
        await listen(socket, soul_id, user_id="ann")
        client.headers.update(house.headers("owner"))
        [revoked] = [one for one in (await client.get("/v1/keys")).json() if one["name"] == "ann, soul 1"]
        await client.delete(f"/v1/keys/{revoked['key_id']}")
        assert (await socket.refused(type="listen", soul_id=soul_id))["data"]["code"] == "unauthorized"
        assert await socket.closed() == 1008


async def test_one_socket_may_listen_to_so_many_souls(client, monkeypatch):
    monkeypatch.setattr(websocket, "MAX_SOULS", 2)
    souls = [await new_soul(client, name) for name in ("a", "b", "c")]
    async with line(client) as socket:
        for soul_id in (*souls[:2], *souls[:2]):
            await listen(socket, soul_id)
        refused = await socket.refused(type="listen", soul_id=souls[2])
        assert (refused["data"]["code"], "unlisten" in refused["data"]["detail"]) == ("invalid_input", True)
        await socket.send(type="unlisten", soul_id=souls[0])
        await socket.until("unlistened")
        await listen(socket, souls[2])


@pytest.mark.parametrize("how", ["talks", "listens elsewhere"])
async def test_who_only_talks_or_listens_to_another_soul_hears_nothing_of_this_one(client, how):
    soul_id, other = await new_soul(client), await new_soul(client, "other")
    async with line(client) as socket:
        if how == "talks":
            await socket.chat("hi", soul_id=soul_id, session_id="mine")
            await socket.until("done")
        else:
            await listen(socket, other)
        await say(client, "hello", soul_id=soul_id, session_id="theirs")
        await client.patch("/v1/sessions/theirs", json={"title": "rain"})
        assert [one for one in await heard(socket) if one["data"]["soul_id"] == soul_id] == []
