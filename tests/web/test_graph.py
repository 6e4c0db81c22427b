"""The graphs at work: drawn from the code, lit while a turn runs, with times and what each node returned."""

import re

from playwright.async_api import expect

from soulgraph.tests.stub_openai import SOUL_TURN, Reply

SECRET = "sk-never-to-be-shown"


async def test_nodes_light_up_while_a_turn_runs_and_say_what_they_returned(open_studio, stub):
    studio = await open_studio(llm_base_url=stub.base_url, llm_model="stub", llm_api_key=SECRET)
    page = studio.page
    await studio.soul("Pip")
    await studio.go("graph")
    stub.script(Reply(text=SOUL_TURN, delay_s=1.5))
    box = page.get_by_role("textbox", name="Say something to Pip and watch")
    await box.fill("You are wonderful, thank you!")
    await box.press("Enter")
    await expect(page.locator("[data-node=model]")).to_have_attribute("data-status", "running")
    await expect(page.get_by_role("status").filter(has_text="Turn: runs now")).to_have_count(1)
    await expect(page.locator("[data-node=emotion]")).to_have_attribute("data-status", "done")
    await expect(page.get_by_role("log", name="Pip answers")).to_have_text("I hear you.")
    await expect(page.locator("[data-node][data-status=running]")).to_have_count(0)
    await expect(page.locator("[data-node=intent_action]")).to_have_attribute("data-status", "idle")

    timings = page.get_by_role("region", name="Timings")
    bars = timings.get_by_role("listitem")
    names = [(await bar.inner_text()).split()[0] for bar in await bars.all()]
    assert names[0] == "emotion"
    assert names.index("gate") < names.index("model") < names.index("writeback")
    for bar in await bars.all():
        assert re.search(r"\d+(\.\d+)? (ms|s)", await bar.inner_text())

    state = page.get_by_role("region", name="What the node did")
    await timings.get_by_role("button", name=re.compile("^emotion ")).press("Enter")
    await expect(state).to_contain_text("Recognises what the person feels.")
    await expect(state).to_contain_text("gratitude")
    await page.locator(".react-flow__node[aria-label^='gate:']").press("Enter")
    await expect(state).to_contain_text("auto_execute")
    await expect(page.get_by_test_id("which-run")).to_contain_text("“You are wonderful, thank you!”")

    stub.script(*[Reply(text="no", status=401)] * 3)
    await box.fill("Are you awake?")
    await box.press("Enter")
    failed = page.locator("[data-node=model]")
    await expect(failed).to_have_attribute("data-status", "failed")
    await expect(failed).to_contain_text(re.compile(r"✕ failed after \d+(\.\d+)? m?s"))
    await expect(page.locator("[data-node=writeback]")).to_have_attribute("data-status", "idle")
    await expect(page.locator("[data-node=writeback]")).to_contain_text("did not run")
    await expect(page.locator("[data-node][data-status=running]")).to_have_count(0)
    await expect(timings.get_by_role("button", name=re.compile("^model "))).to_contain_text("failed")
    await timings.get_by_role("button", name=re.compile("^model ")).click()
    await expect(state).to_contain_text(re.compile(r"It failed after \d+(\.\d+)? m?s: .*model"))
    await expect(page.get_by_test_id("which-run")).to_contain_text(re.compile(r"\d\d:\d\d:\d\d · “Are you awake\?”"))
    await page.get_by_role("button", name="Light theme").click()
    assert await studio.serious_findings() == []
    await page.get_by_role("combobox", name="Which run").click()
    await page.get_by_role("option", name=re.compile("You are wonderful")).click()
    await expect(failed).to_have_attribute("data-status", "done")
    assert SECRET not in await page.content()


async def test_the_text_of_a_graph_has_the_nodes_and_ways_of_the_code_and_no_others(open_studio):
    studio = await open_studio("graph")
    page = studio.page
    graphs = {graph["name"]: graph for graph in (await studio.client.get("/v1/graphs")).json()}
    listing = page.get_by_role("group").filter(has_text="The graph as text")
    for tab, name in {"Turn": "turn", "Afterglow": "afterglow", "Of its own accord": "proactive"}.items():
        await page.get_by_role("radiogroup", name="Graphs").get_by_text(tab, exact=True).click()
        if await listing.get_attribute("open") is None:
            await listing.locator("summary").click()
        told = [await item.inner_text() for item in await listing.locator("> ol > li").all()]
        assert {re.split(" leads to |: ", one)[0]: ways(one) for one in told} == outline(graphs[name])
        inside = [await item.inner_text() for item in await listing.locator("> ol ol > li").all()]
        if name == "turn":
            coded = outline(graphs["tool_loop"])
            assert {one: to for one, to in coded.items() if one not in ("start", "end")} == {
                one.split(" leads to ")[0]: ways(one) for one in inside
            }
        else:
            assert not inside


def ways(sentence):
    """Where a node of the text leads to."""
    targets = re.search(r" leads to ([^.]*)", sentence.splitlines()[0])
    return set(targets[1].split(" or ")) if targets else set()


def outline(graph):
    """Where each node of a graph of the API leads to."""
    plain = {node["id"]: node["id"].strip("_") for node in graph["nodes"]}
    leads = {name: set() for name in plain.values()}
    for edge in graph["edges"]:
        leads[plain[edge["source"]]].add(plain[edge["target"]])
    return leads
