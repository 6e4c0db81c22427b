"""What of the library a soul takes along in its file: characters with their pictures, templates, backgrounds."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b

from pydantic import ValidationError

from soulgraph.api.backgrounds import BackgroundOut
from soulgraph.api.images import NAMES
from soulgraph.api.library import CharacterOut
from soulgraph.api.templates import TemplateOut
from soulgraph.errors import InvalidInput
from soulgraph.library.images import check_image
from soulgraph.library.shipped import TEMPLATES, presets
from soulgraph.prompts.templates import Template
from soulgraph.soul.validation import explain
from soulgraph.stores.factories import new_id
from soulgraph.stores.presets import Presets
from soulgraph.stores.records import Json, Preset
from soulgraph.stores.repository import fields_of
from soulgraph.stores.soul_tables import LIBRARY, Row, encoded
from soulgraph.stores.stores import Transaction

_KINDS = {"characters": "char", "templates": "tmpl", "library_backgrounds": "bg"}
"""Those that have ids of their own, and how new ids begin."""

Named = dict[str, set[str]]


@dataclass(slots=True)
class UsedPresets:
    """The ids of presets that rows of a soul name."""

    ids: Named = field(default_factory=lambda: {name: set() for name in _KINDS})

    def note(self, table: str, row: Row) -> None:
        if table == "souls" and row["character_id"]:
            self.ids["characters"].add(row["character_id"])
        if table == "sessions":
            self.ids["templates"].add(row["template_id"])
            self.ids["characters"] |= {preset for preset in [row["character_snapshot"]["source_preset"]] if preset}
            self.ids["library_backgrounds"] |= {preset for preset in [row["background_id"]] if preset}


async def library_rows(tx: Transaction, used: UsedPresets) -> AsyncIterator[tuple[str, Row]]:
    """(table, row) of the presets that are not as they ship, in the order of `LIBRARY`."""
    own: dict[str, list[Preset]] = {name: await _own(tx, name, ids) for name, ids in used.ids.items()}
    for name, table in LIBRARY.items():
        for preset in own.get(name, []):
            yield name, encoded(table, fields_of(preset))
        if name == "pictures":
            for character in own["characters"]:
                for picture in await tx.pictures.all_of(character.id):
                    yield name, encoded(table, fields_of(picture))


async def _own(tx: Transaction, name: str, ids: set[str]) -> list[Preset]:
    found = [await _repository(tx, name).find(preset_id) for preset_id in sorted(ids.difference(TEMPLATES))]
    pictured = {info.character_id for info in await tx.pictures.infos()} if name == "characters" else set()
    return [
        preset
        for preset in found
        if preset and not preset.summary_of and (preset.id in pictured or not _ships(name, preset))
    ]


def _repository(tx: Transaction, name: str) -> Presets:
    return {"characters": tx.characters, "templates": tx.templates}.get(name, tx.backgrounds)


def _ships(name: str, preset: Preset) -> bool:
    return preset.id in _shipped(name) and _shipped(name)[preset.id] == preset.data


@cache
def _shipped(name: str) -> Mapping[str, Json]:
    if name == "templates":
        return {}
    kept = presets("characters" if name == "characters" else "backgrounds")
    return {data["id"]: data for data in kept}


@dataclass(slots=True)
class FoundPresets:
    """The presets of a file that was checked; of pictures only what tells them apart is kept.

    `here` are those that the server has already, word for word.
    """

    presets: dict[str, dict[str, Preset]] = field(default_factory=lambda: {name: {} for name in _KINDS})
    pictures: dict[str, dict[str, bytes]] = field(default_factory=dict)
    here: set[tuple[str, str]] = field(default_factory=set)

    def take(self, table: str, row: Row) -> None:
        """Raises InvalidInput unless the library can show the row."""
        try:
            if table == "pictures":
                self._take_picture(row)
            else:
                self._take_preset(table, Preset(**row))
        except ValidationError as error:
            raise InvalidInput(explain(error)) from error
        except LookupError as error:
            raise InvalidInput(f"data: {error} is missing") from error

    def _take_preset(self, table: str, preset: Preset) -> None:
        if not isinstance(preset.data, dict):
            raise InvalidInput("data: is no object")
        if preset.id in self.presets[table]:
            raise InvalidInput("an earlier line has the same id")
        if table == "templates":
            Template.model_validate({"template_id": preset.id, **preset.data})
            TemplateOut.of(preset)
        elif table == "characters":
            CharacterOut.of(preset)
        else:
            BackgroundOut.of(preset)
        self.presets[table][preset.id] = preset

    def _take_picture(self, row: Row) -> None:
        if row["character_id"] not in self.presets["characters"]:
            raise InvalidInput("character_id: there is no such row of characters before it")
        pictures = self.pictures.setdefault(row["character_id"], {})
        if row["name"] not in NAMES or row["name"] in pictures:
            raise InvalidInput(f"name: a character has one picture of each of these names: {', '.join(NAMES)}")
        if check_image(row["content"]).content_type != row["content_type"]:
            raise InvalidInput("content_type: is not that of the picture")
        pictures[row["name"]] = _digest(row["content"])

    async def new_ids(self, tx: Transaction) -> dict[str, dict[str, str]]:
        """New ids for those that another preset has here; one that is here already is used as it is."""
        new: dict[str, dict[str, str]] = {}
        for name, found in self.presets.items():
            here = [await _repository(tx, name).find(preset_id) for preset_id in sorted(found)]
            same = {preset.id: await self._same(tx, name, preset) for preset in here if preset}
            self.here |= {(name, preset_id) for preset_id, is_same in same.items() if is_same}
            new[name] = {preset_id: new_id(_KINDS[name]) for preset_id, is_same in same.items() if not is_same}
        return new

    def to_store(self, table: str, rows: list[Row]) -> list[Row]:
        """Those of the rows that are not here already."""
        kind, key = ("characters", "character_id") if table == "pictures" else (table, "id")
        return [row for row in rows if (kind, row[key]) not in self.here]

    async def _same(self, tx: Transaction, name: str, preset: Preset) -> bool:
        wanted = self.presets[name][preset.id]
        if (preset.name, preset.data) != (wanted.name, wanted.data):
            return False
        if name != "characters":
            return True
        pictures = {one.name: _digest(one.content) for one in await tx.pictures.all_of(preset.id)}
        return pictures == self.pictures.get(preset.id, {})


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()
