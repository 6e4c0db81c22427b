"""Prompt templates, which say what modules a prompt is made of. The shipped ones can be read but not changed."""

from typing import Literal, Self

from fastapi import APIRouter
from pydantic import AliasChoices, BaseModel, Field

from soulgraph.api.auth import server_owner, speaker
from soulgraph.api.edits import Body, Revised, example, form, refuse_if_changed, revision_of
from soulgraph.api.fields import Id, NewId
from soulgraph.api.raising import ALREADY_EXISTS, CHANGED_MEANWHILE, TEMPLATE_IN_USE, TEMPLATE_SHIPPED, raises
from soulgraph.api.services import Served
from soulgraph.errors import Conflict, InvalidInput
from soulgraph.library.shipped import TEMPLATES
from soulgraph.prompts.templates import VARIABLES, Template, shipped
from soulgraph.soul.timestamps import iso
from soulgraph.stores.factories import new_id
from soulgraph.stores.records import Json, Preset

router = APIRouter(prefix="/v1/templates", tags=["library"])


EXAMPLE: Json = {
    "name": "Plain",
    "voice": "companion",
    "modules": [
        {"name": "Who", "layer": 2, "priority": 10, "template": "You are {{soul_name}}.\n{{base_persona}}"},
        {"name": "House rules", "layer": 2, "priority": 20, "content": "Speak in short sentences."},
        {"name": "Mode", "layer": 4, "template": "{{mode}}"},
    ],
}


_NAMED = [form("name"), form("id")]
"""A template without a name is called by its id."""


class NewTemplate(Template, Body):
    model_config = example({"id": "plain", **EXAMPLE}, one_of=_NAMED, required=["modules"])

    template_id: NewId = Field(
        default_factory=lambda: new_id("tmpl"), validation_alias=AliasChoices("id", "template_id")
    )


class EditedTemplate(NewTemplate, Revised):
    model_config = example({**EXAMPLE, "revision": "0230e77beb58768c"}, one_of=_NAMED, required=["modules"])

    read_only = frozenset({"shipped", "created_at", "updated_at"})


class TemplateModule(BaseModel):
    name: str
    layer: int
    priority: int
    enabled: bool
    content: str | None = Field(None, description="said as it is")
    template: str | None = Field(None, description="said with its {{variables}} filled in")
    content_source: str | None = None


class TemplateOut(BaseModel):
    id: str
    name: str
    voice: Literal["companion", "narrator"]
    modules: list[TemplateModule]
    shipped: bool
    revision: str
    created_at: str | None
    updated_at: str | None

    @classmethod
    def of(cls, preset: Preset) -> Self:
        return cls._of(preset.id, preset.data, iso(preset.created_at), iso(preset.updated_at))

    @classmethod
    def shipped_as(cls, template_id: str) -> Self:
        return cls._of(template_id, data_of(shipped(template_id)), None, None)

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


class VariableOut(BaseModel):
    name: str
    layer: int = Field(description="the layer whose modules may use it; 0: any")
    changing: bool = Field(description="whether it changes from turn to turn; its module then follows the conversation")
    meaning: str


@router.get("", dependencies=[speaker])
async def list_templates(services: Served) -> list[TemplateOut]:
    """List the shipped templates, then your own by name."""
    async with services.stores.read() as tx:
        own = [TemplateOut.of(preset) for preset in await tx.templates.all()]
    return [*map(TemplateOut.shipped_as, TEMPLATES), *own]


@router.post("", status_code=201, dependencies=[server_owner])
@raises(ALREADY_EXISTS, TEMPLATE_SHIPPED)
async def create_template(wanted: NewTemplate, services: Served) -> TemplateOut:
    """Create a template; 409 if the id is taken, also by a shipped one."""
    _refuse_taken(wanted.template_id)
    async with services.stores.write() as tx:
        await tx.templates.add(wanted.template_id, wanted.name, data_of(wanted), services.now())
        return TemplateOut.of(await tx.templates.get(wanted.template_id))


@router.get("/variables", dependencies=[speaker])
async def list_variables() -> list[VariableOut]:
    """List the variables that a module of a template may use, by layer."""
    return [
        VariableOut(name=name, layer=variable.layer, changing=variable.volatile, meaning=variable.meaning)
        for name, variable in VARIABLES.items()
    ]


@router.get("/{template_id}", dependencies=[speaker])
async def read_template(template_id: Id, services: Served) -> TemplateOut:
    if template_id in TEMPLATES:
        return TemplateOut.shipped_as(template_id)
    async with services.stores.read() as tx:
        return TemplateOut.of(await tx.templates.get(template_id))


@router.put("/{template_id}", dependencies=[server_owner])
@raises(TEMPLATE_SHIPPED, CHANGED_MEANWHILE)
async def put_template(template_id: Id, wanted: EditedTemplate, services: Served) -> TemplateOut:
    """Replace a template, or create it under this id. Sessions that use it see the change in their next turn."""
    _refuse_taken(template_id)
    if "template_id" in wanted.model_fields_set and wanted.template_id != template_id:
        raise InvalidInput(f"body.id: is {wanted.template_id!r}, but the path says {template_id!r}")
    data = data_of(wanted) | {"template_id": template_id}
    async with services.stores.write() as tx:
        existing = await tx.templates.find_locked(template_id)
        refuse_if_changed(wanted.revision, existing.data if existing else None)
        await tx.templates.put(template_id, wanted.name, data, services.now())
        return TemplateOut.of(await tx.templates.get(template_id))


@router.delete("/{template_id}", status_code=204, dependencies=[server_owner])
@raises(TEMPLATE_SHIPPED, TEMPLATE_IN_USE)
async def delete_template(template_id: Id, services: Served) -> None:
    """Delete a template; 409 if a session uses it or it is a shipped one."""
    _refuse_taken(template_id)
    async with services.stores.write() as tx:
        await tx.templates.delete(template_id)


def _refuse_taken(template_id: str) -> None:
    if template_id in TEMPLATES:
        raise Conflict("template_shipped", f"{template_id} ships with the package: save yours under another id")


def data_of(template: Template) -> Json:
    return template.model_dump(mode="json", exclude={"revision"}, exclude_none=True)
