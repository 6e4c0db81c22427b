"""Who still waits when the server is stopped is told that it may be sent again, and not that something went wrong."""

import asyncio
import json

import pytest

from soulgraph.api.shutdown import CutOff

HTTP = {"type": "http", "path": "/v1/chat"}


async def cut_off(app, scope):
    sent = []

    async def send(message):
        sent.append(message)

    task = asyncio.create_task(CutOff(app)(scope, None, send))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    return task, sent


async def silent(scope, receive, send):
    await asyncio.Event().wait()


async def speaking(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await asyncio.Event().wait()


async def test_a_request_without_an_answer_yet_gets_a_problem():
    task, (start, body) = await cut_off(silent, HTTP)
    assert (start["status"], json.loads(body["body"])["code"]) == (503, "shutting_down")
    assert not task.cancelled()


@pytest.mark.parametrize(("app", "scope"), [(speaking, HTTP), (silent, {"type": "websocket", "path": "/v1/chat/ws"})])
async def test_what_is_being_answered_is_only_broken_off(app, scope):
    task, sent = await cut_off(app, scope)
    assert task.cancelled()
    assert all(message["type"] == "http.response.start" for message in sent)
