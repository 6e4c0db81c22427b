"""Prompt templates, which say what modules a prompt is made of. The shipped ones can be read but not changed."""

from typing import Any, Self

from fastapi import APIRouter
from pydantic import AliasChoices, BaseModel, Field

from soulgraph.api.auth import server_owner, speaker
from soulgraph.api.edits import Body, Revised, refuse_if_changed, revision_of
from soulgraph.api.fields import Id
from soulgraph.api.services import Served
from soulgraph.errors import Conflict, InvalidInput
from soulgraph.library.shipped import TEMPLATES
from soulgraph.prompts.templates import Template, shipped
from soulgraph.soul.timestamps import iso
from soulgraph.stores.factories import new_id
from soulgraph.stores.records import Json, Preset

router = APIRouter(prefix="/v1/templates", tags=["library"])


class NewTemplate(Template, Body):
    template_id: Id = Field(default_factory=lambda: new_id("tmpl"), validation_alias=AliasChoices("id", "template_id"))


class EditedTemplate(NewTemplate, Revised):
    read_only = frozenset({"shipped", "created_at", "updated_at"})


class TemplateOut(BaseModel):
    id: str
    name: str
    voice: str
    modules: list[dict[str, Any]]
    shipped: bool
    revision: str
    created_at: str | None
    updated_at: str | None

    @classmethod
    def of(cls, preset: Preset) -> Self:
        return cls._of(preset.id, preset.data, iso(preset.created_at), iso(preset.updated_at))

    @classmethod
    def shipped_as(cls, template_id: str) -> Self:
        return cls._of(template_id, _data(shipped(template_id)), None, None)

    @classmethod
    def _of(cls, template_id: str, data: Json, created_at: str | None, updated_at: str | None) -> Self:
        return cls(
            id=template_id,
            **{name: data[name] for name in ("name", "voice", "modules")},
            shipped=template_id in TEMPLATES,
            revision=revision_of(data),
            created_at=created_at,
            updated_at=updated_at,
        )


@router.get("", dependencies=[speaker])
async def list_templates(services: Served) -> list[TemplateOut]:
    """List the shipped templates, then your own by name."""
    async with services.stores.read() as tx:
        own = [TemplateOut.of(preset) for preset in await tx.templates.all()]
    return [*map(TemplateOut.shipped_as, TEMPLATES), *own]


@router.post("", status_code=201, dependencies=[server_owner])
async def create_template(wanted: NewTemplate, services: Served) -> TemplateOut:
    """Create a template; 409 if the id is taken, also by a shipped one."""
    _refuse_shipped(wanted.template_id)
    async with services.stores.write() as tx:
        await tx.templates.add(wanted.template_id, wanted.name, _data(wanted), services.now())
        return TemplateOut.of(await tx.templates.get(wanted.template_id))


@router.get("/{template_id}", dependencies=[speaker])
async def read_template(template_id: Id, services: Served) -> TemplateOut:
    if template_id in TEMPLATES:
        return TemplateOut.shipped_as(template_id)
    async with services.stores.read() as tx:
        return TemplateOut.of(await tx.templates.get(template_id))


@router.put("/{template_id}", dependencies=[server_owner])
async def put_template(template_id: Id, wanted: EditedTemplate, services: Served) -> TemplateOut:
    """Replace a template, or create it under this id. Sessions that use it see the change in their next turn."""
    _refuse_shipped(template_id)
    if "template_id" in wanted.model_fields_set and wanted.template_id != template_id:
        raise InvalidInput(f"body.id: is {wanted.template_id!r}, but the path says {template_id!r}")
    data = _data(wanted) | {"template_id": template_id}
    async with services.stores.write() as tx:
        existing = await tx.templates.find_locked(template_id)
        refuse_if_changed(wanted.revision, existing.data if existing else None)
        await tx.templates.put(template_id, wanted.name, data, services.now())
        return TemplateOut.of(await tx.templates.get(template_id))


@router.delete("/{template_id}", status_code=204, dependencies=[server_owner])
async def delete_template(template_id: Id, services: Served) -> None:
    """Delete a template; 409 if a session uses it or it is a shipped one."""
    _refuse_shipped(template_id)
    async with services.stores.write() as tx:
        await tx.templates.delete(template_id)


def _refuse_shipped(template_id: str) -> None:
    if template_id in TEMPLATES:
        raise Conflict("template_shipped", f"{template_id} ships with the package: save yours under another id")


def _data(template: Template) -> Json:
    return template.model_dump(mode="json", exclude={"revision"}, exclude_none=True)
