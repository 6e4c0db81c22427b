import json
from random import Random

from soulgraph.bench.soak.model import MoodyModel
from soulgraph.tests.household import Secrets
from soulgraph.tests.stub_openai import Request


def prompt(*words):
    body = {"messages": [{"role": "user", "content": " ".join(words)}], "stream": True}
    return Request("POST", "/chat/completions", {}, json.dumps(body).encode())


def test_a_prompt_that_tells_of_two_who_do_not_share_it_is_noted():
    secrets = Secrets(Random(1))
    anns, bobs, shared = secrets.new("ann"), secrets.new("bob"), secrets.new("ann", "bob")
    model = MoodyModel(secrets, Random(1))
    model.audiences = [("ann",), ("bob",), ("ann", "bob")]
    model._reply(prompt(anns, shared))
    assert model.leaks == []
    model._reply(prompt(anns, bobs))
    assert len(model.leaks) == 1
    assert anns in model.leaks[0]


def test_it_is_calm_until_it_may_be_otherwise():
    model = MoodyModel(Secrets(Random(1)), Random(1))
    assert {model._reply(prompt("hello")).status for _ in range(300)} == {200}
    model.calm = False
    assert {200, 429, 500} <= {model._reply(prompt("hello")).status for _ in range(300)}
    assert {"slow", "garbage", "cut off", "hanging"} <= {*model.moods}
