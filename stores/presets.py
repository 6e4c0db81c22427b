"""The library: characters, backgrounds and templates, all kept the same way."""

from soulgraph.errors import NotFound
from soulgraph.stores import schema
from soulgraph.stores.records import Json, Preset
from soulgraph.stores.repository import Repository


class Presets(Repository[Preset]):
    record = Preset
    kind: str

    async def find(self, preset_id: str) -> Preset | None:
        return await self._first(self._rows("id"), id=preset_id)

    async def get(self, preset_id: str) -> Preset:
        preset = await self.find(preset_id)
        if preset is None:
            raise NotFound(self.kind, preset_id)
        return preset

    async def all(self) -> list[Preset]:
        return await self._all(self._rows().order_by(self.table.c.name, self.table.c.id))

    async def put(self, preset_id: str, name: str, data: Json, now: float) -> None:
        known = await self.find(preset_id)
        created_at = known.created_at if known else now
        await self._put(id=preset_id, name=name, data=data, created_at=created_at, updated_at=now)

    async def delete(self, preset_id: str) -> None:
        if not await self._remove(id=preset_id):
            raise NotFound(self.kind, preset_id)


class Characters(Presets):
    table = schema.characters
    kind = "character"


class Backgrounds(Presets):
    table = schema.backgrounds
    kind = "background"


class Templates(Presets):
    table = schema.templates
    kind = "template"
