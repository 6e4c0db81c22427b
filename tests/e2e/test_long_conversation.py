"""Two hundred turns: the prompt stays as small as it was, and what was said at the beginning is not forgotten."""

from itertools import pairwise

from soulgraph.bench.made_up import talk
from soulgraph.tests.e2e.afterglow import attentive, settled
from soulgraph.tests.live import new_soul, say, serving

TURNS = 200
FACT, QUESTION = "My daughter is called Mika and she plays the cello.", "What does my daughter Mika play?"


async def test_two_hundred_turns_keep_the_prompt_small_and_the_past_in_reach(stub, tmp_path):
    lines = [*talk(TURNS)]
    lines[2], lines[189] = FACT, QUESTION
    async with serving(data_dir=tmp_path, llm_base_url=attentive(stub).base_url, llm_model="stub") as client:
        soul_id, prompts = await new_soul(client), []
        for line in lines:
            answer = await say(client, line, soul_id=soul_id, session_id="s")
            sent = [one for one in stub.requests if b"OUTPUT CONTRACT" in one.raw][-1]
            prompts.append([message["content"] for message in sent.body["messages"]])
            if line == QUESTION:
                assert "plays the cello" in prompts[-1][-1]
                assert any(source.startswith("episode:") for source in answer["persona"]["sources"])
        await settled(client)
        events = (await client.get("/v1/events", params={"limit": 200})).json()
        messages = (await client.get("/v1/sessions/s/messages", params={"limit": 1000})).json()
    histories = [len(prompt) - 2 for prompt in prompts]
    sizes = [sum(map(len, prompt)) for prompt in prompts]
    assert max(histories) <= 40
    assert max(sizes[150:]) <= 1.2 * max(sizes[10:60])
    assert (len(messages), all(message["archived"] for message in messages[:-10])) == (2 * TURNS, True)
    assert events
    assert any(after < before for before, after in pairwise(histories)), "what was archived has left the prompt"
