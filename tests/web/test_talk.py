"""The talk: what is typed, and what can be done with what was said."""

import re

from playwright.async_api import expect

from soulgraph.tests.live import transcript
from soulgraph.tests.stub_openai import Reply
from soulgraph.tests.web.talk import box_of, choose, narrated, opened_talk, speech

HTML = "<img src=x onerror=\"document.title='owned'\"><b>bold?</b> <script>alert(1)</script>"
HEBREW = "שלום Pip, מה שלומך היום? 123 (ok)"
EMOJI = "👩‍👩‍👧‍👦🇨🇭👍🏽 só — ﷽ 𝓗𝓲"
MOST = 8000


async def test_what_is_said_is_shown_as_text_letter_by_letter_in_its_own_direction(open_studio):
    studio, session_id = await opened_talk(open_studio)
    page = studio.page
    for words in (HTML, HEBREW, EMOJI):
        await studio.say(words)
        await expect(speech(page, words)).to_have_count(1)
    await expect(page.get_by_role("log").locator("time")).to_have_count(6)
    assert [words for role, words in await transcript(studio.client, session_id) if role == "user"] == [
        HTML,
        HEBREW,
        EMOJI,
    ]
    assert await page.get_by_role("log").locator("b, img, script").count() == 0
    await expect(page).to_have_title("Chat · soulgraph studio")
    await expect(page.get_by_role("navigation", name="Conversations").get_by_role("link")).to_contain_text(HTML[:30])
    directions = [await direction(page, words) for words in (HTML, HEBREW, EMOJI)]
    assert directions == ["ltr", "rtl", "ltr"]

    replies = page.get_by_role("log").locator("[data-index]").filter(has=page.get_by_role("button", name="Answer anew"))
    why = page.get_by_test_id("why")
    await replies.nth(0).get_by_role("button", name="Why?").click()
    await expect(why).to_contain_text("Heard")
    assert await page.locator("main").locator("b, script").count() == 0

    # As in a window of 1280 by 720 at twice the size.
    await page.set_viewport_size({"width": 640, "height": 360})
    await replies.nth(1).get_by_role("button", name="Why?").click()
    await expect(why).to_have_count(1)
    await expect(replies.nth(1).get_by_test_id("why")).to_contain_text("Voice and cost")
    close = why.get_by_role("button", name="Close")
    send = page.get_by_role("button", name="Send")
    for part in (why, close, box_of(page), send):
        await expect(part).to_be_in_viewport(ratio=1)
    await why.evaluate("one => one.scrollTo(0, one.scrollHeight)")
    await expect(close).to_be_in_viewport(ratio=1)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await close.press("Escape")
    await expect(why).to_have_count(0)
    await expect(replies.nth(1).get_by_role("button", name="Why?")).to_be_focused()


async def direction(page, words):
    return (
        await page.get_by_role("log").get_by_text(words, exact=True).evaluate("one => getComputedStyle(one).direction")
    )


async def test_only_a_finished_message_is_sent_and_a_draft_is_never_lost(open_studio):
    studio, session_id = await opened_talk(open_studio)
    page, box = studio.page, box_of(studio.page)
    send = page.get_by_role("button", name="Send")

    await box.fill("jintian")
    for composing in ({"isComposing": True}, {"keyCode": 229}):
        await box.dispatch_event("keydown", {"key": "Enter", "bubbles": True, "cancelable": True, **composing})
    await expect(box).to_have_value("jintian")

    for blank in ("", "   ", "\n\n\n"):
        await box.fill(blank)
        await expect(send).to_be_disabled()
        await box.press("Enter")
    await box.fill("好" * (MOST + 1))
    await expect(page.get_by_text("1 characters too long: it can have 8000 at most")).to_be_visible()
    await expect(send).to_be_disabled()
    await box.press("Enter")
    await expect(box).to_have_value("好" * (MOST + 1))
    assert await transcript(studio.client, session_id) == []

    await box.fill("😀" * MOST)  # as the server counts, not as strings do
    await expect(page.get_by_text("8000 of 8000 characters")).to_be_visible()
    await box.press("Enter")
    await expect(box).to_have_value("")
    await expect(page.get_by_role("log").locator("time")).to_have_count(2)

    await box.fill("今天终于下班了")
    await box.press("Shift+Enter")
    await box.press_sequentially("累得只想躺着")
    await box.press("Enter")
    await expect(box).to_be_focused()
    await expect(page.get_by_role("log").locator("time")).to_have_count(4)
    said = [words for role, words in await transcript(studio.client, session_id) if role == "user"]
    assert said == ["😀" * MOST, "今天终于下班了\n累得只想躺着"]

    await box.fill("明天还要早起")
    await page.get_by_role("link", name="Simulate").click()
    await page.get_by_role("link", name="Chat").click()
    await expect(box).to_have_value("明天还要早起")
    await page.reload()
    await expect(box).to_have_value("明天还要早起")


async def test_messages_are_answered_anew_edited_corrected_forked_and_deleted(open_studio, stub):
    studio, session_id = await opened_talk(open_studio, llm_base_url=stub.base_url, llm_model="stub")
    page, log = studio.page, studio.page.get_by_role("log")
    stub.script(*[narrated(words) for words in ("One.", "Two.", "Three.")])
    await studio.say("I slam the map on the table.")
    await expect(log).to_contain_text("One.")
    await studio.say("Then who moved the buoys?")
    await expect(log).to_contain_text("Two.")

    await speech(page, "Two.").get_by_role("button", name="Answer anew").click()
    await expect(speech(page, "Three.")).to_have_count(1)
    await expect(speech(page, "Two.")).to_have_count(0)
    original = [
        ("user", "I slam the map on the table."),
        ("assistant", "One."),
        ("user", "Then who moved the buoys?"),
        ("assistant", "Three."),
    ]
    assert await transcript(studio.client, session_id) == original

    await choose(page, "One.", "Fork from here")
    await expect(page).not_to_have_url(re.compile(session_id))
    await expect(log.locator("time")).to_have_count(2)
    fork_id = page.url.rsplit("/", 1)[1]
    await studio.say("I leave the cabin without a word.")
    await expect(log).to_contain_text("I hear you.")
    assert [words for _, words in await transcript(studio.client, fork_id)] == [
        "I slam the map on the table.",
        "One.",
        "I leave the cabin without a word.",
        "I hear you.",
    ]
    assert await transcript(studio.client, session_id) == original
    links = page.get_by_role("navigation", name="Conversations").get_by_role("link")
    await expect(links.filter(has_text="Fork of I slam the map")).to_have_attribute("aria-current", "page")
    await links.filter(has_not_text="Fork of").click()
    await expect(log).to_contain_text("Three.")

    await choose(page, "Three.", "Only correct the words")
    await page.get_by_role("textbox", name="The words of the message").fill("Nobody did.")
    await page.get_by_role("button", name="Only correct the words").click()
    await expect(page.get_by_role("textbox", name="The words of the message")).to_have_count(0)
    await expect(speech(page, "Nobody did.")).to_have_count(1)
    assert await transcript(studio.client, session_id) == [*original[:3], ("assistant", "Nobody did.")]

    await choose(page, "Then who moved the buoys?", "Delete")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(speech(page, "Then who moved the buoys?")).to_have_count(0)
    assert await transcript(studio.client, session_id) == [*original[:2], ("assistant", "Nobody did.")]

    stub.script(narrated("Four."))
    await speech(page, "I slam the map on the table.").get_by_role("button", name="Edit").click()
    await expect(log).to_contain_text("Everything after it is taken back.")
    await page.get_by_role("textbox", name="The words of the message").fill("I quietly unroll the map.")
    await page.get_by_role("button", name="Say it so instead").click()
    await expect(speech(page, "Four.")).to_have_count(1)
    await page.reload()
    await expect(speech(page, "I quietly unroll the map.")).to_have_count(1)
    await expect(log.locator("time")).to_have_count(2)
    unrolled = [("user", "I quietly unroll the map."), ("assistant", "Four.")]
    assert await transcript(studio.client, session_id) == unrolled

    edited = page.get_by_role("textbox", name="The words of the message")
    await speech(page, "Four.").hover()
    await choose(page, "Four.", "Only correct the words")
    await edited.fill("Fore.")
    await edited.dispatch_event("keydown", {"key": "Escape", "bubbles": True, "isComposing": True})
    await expect(page.get_by_text("Throw the changes away?")).to_have_count(0)
    await edited.press("Escape")
    await page.get_by_role("button", name="Keep editing").click()
    await expect(edited).to_be_focused()
    await edited.press("Escape")
    await page.get_by_role("button", name="Throw away").click()
    await expect(speech(page, "Four.")).to_have_count(1)


async def test_an_answer_that_breaks_off_stays_as_far_as_it_came_and_is_asked_for_again(open_studio, stub):
    studio, session_id = await opened_talk(open_studio, llm_base_url=stub.base_url, llm_model="stub")
    page, log = studio.page, studio.page.get_by_role("log")
    broken = page.get_by_role("alert")
    story = "Once there was a lighthouse with nine rooms, and in each of them "
    stub.script(
        narrated(story + "a clock ticked. " * 20, chunk_delay_s=0.02, cut_after=30),
        Reply(status=401, text="Incorrect API key provided: sk-abcdefghijkl"),
        narrated("Nine clocks."),
    )
    await studio.say("Tell me a story")
    await expect(broken).to_contain_text("The answer broke off here: it is not whole. Nothing of it was stored.")
    await expect(broken).to_contain_text(re.compile("The model's server (failed|cannot be reached)"))
    await expect(log).to_contain_text("Once there was a light")
    await page.reload()
    await expect(log).to_contain_text("Once there was a light")
    assert await transcript(studio.client, session_id) == []

    await broken.get_by_role("button", name="Try again").click()
    await expect(broken).to_contain_text("The model's server does not take the key it was given.")
    await expect(log).not_to_contain_text(re.compile("sk-|Incorrect|Once there was"))
    await broken.get_by_role("button", name="Try again").click()
    await expect(log).to_contain_text("Nine clocks.")
    await expect(broken).to_have_count(0)
    await expect(speech(page, "Tell me a story")).to_have_count(1)
    assert await transcript(studio.client, session_id) == [("user", "Tell me a story"), ("assistant", "Nine clocks.")]

    stub.script(Reply(status=404, text="no such model"))
    await speech(page, "Nine clocks.").get_by_role("button", name="Answer anew").click()
    await expect(broken).to_contain_text("The change was not made: everything is as it was.")
    await expect(broken).to_contain_text("The model's server does not know the model.")
    await expect(speech(page, "Nine clocks.")).to_have_count(1)


async def test_what_was_read_of_a_stopped_answer_stays_and_before_the_first_word_nothing_does(open_studio, stub):
    studio, session_id = await opened_talk(open_studio, llm_base_url=stub.base_url, llm_model="stub")
    page, log = studio.page, studio.page.get_by_role("log")
    story = "".join(f"Room {n} of the lighthouse had {n} clocks. " for n in range(1, 10)) + "The end."
    stub.when("Never mind", Reply(hang=True))
    stub.when("Tell me", narrated(story, chunk_delay_s=0.05))
    await studio.say("Tell me a long story")
    await expect(log).to_contain_text("lighthouse")
    await page.get_by_role("button", name="Stop").click()
    await expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    await expect(log).to_contain_text("You stopped it here.")
    await expect(box_of(page)).to_be_focused()
    [_, (_, told)] = await transcript(studio.client, session_id)
    assert story.startswith(told)
    await expect(speech(page, told)).to_have_count(1)

    await studio.say("Never mind, good night")
    await page.get_by_role("button", name="Stop").click()
    stopped = page.get_by_text("You stopped it before the first word")
    await expect(stopped).to_be_visible()
    assert len(await transcript(studio.client, session_id)) == 2
    stub.when("Never mind", narrated("Good night."))
    await page.get_by_role("button", name="Try again").click()
    await expect(log).to_contain_text("Good night.")
    await expect(stopped).to_have_count(0)
    await expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    await expect(speech(page, "Never mind, good night")).to_have_count(1)
    assert (await transcript(studio.client, session_id))[2:] == [
        ("user", "Never mind, good night"),
        ("assistant", "Good night."),
    ]
