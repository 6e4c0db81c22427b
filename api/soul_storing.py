"""Stores a soul from a file that was checked: all of it, or nothing."""

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import replace

from soulgraph.api.services import Services
from soulgraph.api.soul_reading import SoulFile
from soulgraph.errors import Conflict
from soulgraph.library.shipped import TEMPLATES
from soulgraph.memory.events import Event, EventLibrary, audience_of
from soulgraph.memory.summaries import Summaries
from soulgraph.stores.factories import default_session_id, new_id
from soulgraph.stores.presets import SUMMARY
from soulgraph.stores.records import Preset, Soul
from soulgraph.stores.soul_tables import LIBRARY, TABLES, Row
from soulgraph.stores.stores import Transaction

NewIds = dict[str, dict[str, str]]


async def store_soul(file: SoulFile, services: Services) -> Soul:
    """Raises Conflict if its person has a soul of this name."""
    async with services.stores.read() as tx:
        await _check_name(tx, file)
        new_ids = await _new_ids(tx, file, services)
    old_id: str = file.soul["soul_id"]
    soul_id = new_ids["souls"].get(old_id, old_id)
    async with _findable(file, new_ids, services), services.stores.write() as tx:
        with _adding_files(file, soul_id, services):
            await _check_name(tx, file)
            await _store(tx, file, new_ids, services)
            return await tx.souls.get(soul_id)


def _adding_files(file: SoulFile, soul_id: str, services: Services) -> AbstractContextManager[None]:
    workspaces = services.context.memory.workspaces
    return workspaces.adding(soul_id, file.files) if workspaces else nullcontext()


async def _check_name(tx: Transaction, file: SoulFile) -> None:
    name = file.soul["name"]
    if any(soul.name == name for soul in await tx.souls.all(file.soul["user_id"])):
        raise Conflict("soul_exists", f"this user already has a soul called {name!r}: choose another with `?name=`")


async def _new_ids(tx: Transaction, file: SoulFile, services: Services) -> NewIds:
    """New ids for those that are taken, by table; what is found by its meaning is always named anew."""
    kinds = {"souls": "soul", "sessions": "sess", "turns": "turn"}
    taken = {name: await tx.soul_rows.taken(TABLES[name], file.ids[name]) for name in kinds}
    taken["souls"] |= _with_other_files(file, services)
    taken["sessions"] |= await tx.soul_rows.heard_sessions(file.ids["sessions"])
    new = {name: {one: new_id(kind) for one in sorted(taken[name])} for name, kind in kinds.items()}
    for old_id, soul_id in new["souls"].items():
        # The usual conversation of each person stays that: its id is made from the soul's.
        usual = {default_session_id(old_id, person): default_session_id(soul_id, person) for person in file.people}
        new["sessions"] |= {one: usual[one] for one in usual.keys() & file.ids["sessions"]}
    new |= await file.presets.new_ids(tx)
    summaries = {one: new_id(SUMMARY) for one in sorted(file.ids["backgrounds"])}
    new["backgrounds"] = new.pop("library_backgrounds") | summaries
    new["event_uses"] = {one: new_id("evt") for one in sorted(file.ids["event_uses"])}
    return new


def _with_other_files(file: SoulFile, services: Services) -> set[str]:
    """The soul's id if other files than its own lie in its folder: those of a soul that was deleted."""
    soul_id: str = file.soul["soul_id"]
    workspaces = services.context.memory.workspaces
    there = workspaces.files(soul_id) if workspaces else {}
    return {soul_id} if file.files and there and there != file.files else set()


@asynccontextmanager
async def _findable(file: SoulFile, new_ids: NewIds, services: Services) -> AsyncIterator[None]:
    """Private events and summaries can be found by their meaning; that is taken back if the block fails.

    It comes before the rows: what is findable and not stored is left out of recall, not the other way round.
    """
    memory = services.context.memory
    old_id: str = file.soul["soul_id"]
    soul_id = new_ids["souls"].get(old_id, old_id)
    try:
        if memory.events:
            await _restore_events(memory.events, file, soul_id, new_ids)
        if memory.summaries:
            await _restore_summaries(memory.summaries, file, soul_id, new_ids)
        yield
    except BaseException:
        if memory.events and file.events:
            await memory.events.discard(new_ids["event_uses"].values())
        if memory.summaries and file.summaries:
            await memory.summaries.forget(soul_id=soul_id)
        raise


async def _restore_events(library: EventLibrary, file: SoulFile, soul_id: str, new_ids: NewIds) -> None:
    together = defaultdict(list)
    for event in file.events:
        people = file.audiences[event.event_id].split("\n")[1:]
        together[audience_of(soul_id, people)].append(_renamed(event, new_ids))
    for audience, events in together.items():
        await library.restore(events, audience)


def _renamed(event: Event, new_ids: NewIds) -> Event:
    return replace(event, event_id=new_ids["event_uses"][event.event_id])


async def _restore_summaries(summaries: Summaries, file: SoulFile, soul_id: str, new_ids: NewIds) -> None:
    for row in file.summaries:
        origin = Preset(**row).summary_of
        old_session: str = origin["session_id"]
        session_id = new_ids["sessions"].get(old_session, old_session)
        text = row["data"]["initial_context"]
        await summaries.add(new_ids["backgrounds"][row["id"]], soul_id, origin["user_id"], session_id, text)


async def _store(tx: Transaction, file: SoulFile, new_ids: NewIds, services: Services) -> None:
    importing = tx.importing(new_ids, file.indexed)
    documents = {one.event_id: _renamed(one, new_ids).to_json() for one in file.events}
    for name, rows in file.batches():
        if name == "souls":
            rows = [{**rows[0], "name": file.soul["name"]}]
        elif name == "event_uses":
            rows = [{**row, "document": documents.get(row["event_id"])} for row in rows]
        elif name == "sessions":
            rows = [await _at_home(tx, row, file, services.context.persona.default_template) for row in rows]
        elif name in LIBRARY:
            rows = file.presets.to_store(name, rows)
        await importing.add(TABLES[name] if name in TABLES else LIBRARY[name], rows)
    await importing.finish()


async def _at_home(tx: Transaction, session: Row, file: SoulFile, default_template: str) -> Row:
    """The session with a template that there is here, and without souls that are not."""
    template_id = session["template_id"]
    along = (*TEMPLATES, *file.presets.presets["templates"])
    known = template_id in along or await tx.templates.find(template_id)
    souls = session.get("souls", {})
    here = await tx.soul_rows.taken(TABLES["souls"], souls)
    present = {soul_id: one for soul_id, one in souls.items() if soul_id in here}
    return {**session, "template_id": template_id if known else default_template, "souls": present}
