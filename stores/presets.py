"""The library: characters, backgrounds and templates, all stored as presets, and the pictures of characters."""

from dataclasses import replace
from functools import cache
from typing import Any

from sqlalchemy import Select, exists, func, select

from soulgraph.errors import Conflict, NotFound
from soulgraph.stores import schema
from soulgraph.stores.records import Json, Picture, PictureInfo, Preset
from soulgraph.stores.repository import Repository, fields_of

SUMMARY = "summary"
"""The kind, in their ids, of the backgrounds that summarise a conversation."""

AVATAR = "avatar"
"""The name of a character's main picture."""


class Presets(Repository[Preset]):
    """What the three kinds share. `get`, `lock` and `delete` raise NotFound, `find` and `find_locked` return None."""

    record = Preset
    kind: str

    async def find(self, preset_id: str) -> Preset | None:
        return await self._first(self._rows("id"), id=preset_id)

    async def get(self, preset_id: str) -> Preset:
        return self._required(await self.find(preset_id), preset_id)

    async def find_locked(self, preset_id: str) -> Preset | None:
        """The preset, locked against other writers until the transaction ends."""
        return await self._first(self._locked("id"), id=preset_id)

    async def lock(self, preset_id: str) -> Preset:
        return self._required(await self.find_locked(preset_id), preset_id)

    async def all(self) -> list[Preset]:
        return await self._all(self._rows().order_by(self.table.c.name, self.table.c.id))

    async def add(self, preset_id: str, name: str, data: Json, now: float) -> None:
        """Add a new preset; raises Conflict if the id is taken."""
        if not await self._put_new(id=preset_id, name=name, data=data, created_at=now, updated_at=now):
            raise Conflict("already_exists", f"there is a {self.kind} {preset_id!r}: choose another id, or edit it")

    async def put(self, preset_id: str, name: str, data: Json, now: float) -> None:
        """Replace the preset with this id, or add it."""
        existing = await self.find(preset_id)
        created_at = existing.created_at if existing else now
        await self._put(id=preset_id, name=name, data=data, created_at=created_at, updated_at=now)

    async def delete(self, preset_id: str) -> None:
        if not await self._remove(id=preset_id):
            raise NotFound(self.kind, preset_id)

    def _required(self, preset: Preset | None, preset_id: str) -> Preset:
        if preset is None:
            raise NotFound(self.kind, preset_id)
        return preset


class Characters(Presets):
    table = schema.characters
    kind = "character"


class Pictures(Repository[Picture]):
    """The pictures of characters; deleting a character deletes its pictures."""

    table = schema.pictures
    record = Picture

    async def find(self, character_id: str, name: str = AVATAR) -> Picture | None:
        return await self._first(self._rows("character_id", "name"), character_id=character_id, name=name)

    async def infos(self, character_id: str | None = None) -> list[PictureInfo]:
        """What pictures a character has, or all characters have, by name; the pictures themselves are not read."""
        columns = self.table.c
        size = func.length(columns.content)
        query = select(columns.character_id, columns.name, columns.content_type, size, columns.updated_at)
        if character_id is not None:
            query = query.where(columns.character_id == character_id)
        query = query.order_by(columns.name, columns.character_id)
        rows: Any = await self._connection.execute(query)
        return [PictureInfo(*row) for row in rows]

    async def all_of(self, character_id: str) -> list[Picture]:
        """The pictures of a character, by name."""
        return await self._all(self._rows("character_id").order_by(self.table.c.name), character_id=character_id)

    async def put(self, picture: Picture) -> None:
        """Replace the picture of this name, or add it."""
        await self._put(**fields_of(picture))

    async def copy(self, character_id: str, other_id: str) -> None:
        """Give another character the same pictures."""
        for picture in await self.all_of(character_id):
            await self.put(replace(picture, character_id=other_id))

    async def delete(self, character_id: str, name: str) -> None:
        if not await self._remove(character_id=character_id, name=name):
            raise NotFound("image", name)


class Backgrounds(Presets):
    table = schema.backgrounds
    kind = "background"

    async def forget(self, soul_id: str) -> None:
        """Delete the backgrounds that summarise this soul's conversations."""
        for preset in await self.all():
            if preset.summary_of.get("soul_id") == soul_id:
                await self.delete(preset.id)

    async def summaries(self, after: str, limit: int) -> list[Preset]:
        """Summaries of conversations that still exist, in the order of their ids, behind `after`."""
        session_id = self.table.c.data["extensions"]["summary_of"]["session_id"].as_string()
        exists_still = exists().where(schema.sessions.c.session_id == session_id)
        own = self.table.c.id.startswith(f"{SUMMARY}_", autoescape=True), self.table.c.id > after, exists_still
        return await self._all(self._rows().where(*own).order_by(self.table.c.id).limit(limit))

    async def any_summaries(self) -> bool:
        """Whether any conversation was ever summarised."""
        return bool((await self._connection.execute(self._summaries())).scalar())

    @classmethod
    @cache
    def _summaries(cls) -> Select[Any]:
        return select(exists().where(cls.table.c.id.startswith(f"{SUMMARY}_", autoescape=True)))


class Templates(Presets):
    table = schema.templates
    kind = "template"

    async def delete(self, preset_id: str) -> None:
        """Raises Conflict if a session uses the template: sessions keep no copy of it."""
        await self.lock(preset_id)
        sessions = schema.sessions.c
        if (await self._connection.execute(select(exists().where(sessions.template_id == preset_id)))).scalar():
            raise Conflict("template_in_use", f"sessions speak by the template {preset_id!r}: delete them first")
        await super().delete(preset_id)
