"""Reports: messages of terminals are validated strictly and within limits."""

import json

import pytest

from soulgraph.errors import InvalidInput
from soulgraph.terminals.reports import MAX_BYTES, CatalogReport, Input, SkillReport, SkillResult

SKILLS = {"terminal_id": "lamp", "skill_version": 1, "skills": [{"name": "is_on"}]}


def nested(levels):
    schema = {"type": "object"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def read_with(schema):
    return SkillReport.read(json.dumps({**SKILLS, "skills": [{"name": "s", "input_schema": schema}]}).encode())


def test_what_is_not_said_of_a_skill_has_a_default_and_more_is_ignored():
    [skill] = SkillReport.read(json.dumps({**SKILLS, "colour": "red"}).encode()).skills
    assert (skill.description, skill.input_schema) == ("", {"type": "object", "properties": {}})


@pytest.mark.parametrize("schema", [{}, {"type": "string"}, {"type": "object", "properties": []}, nested(6)])
def test_a_schema_that_is_none_or_too_deep_is_refused(schema):
    with pytest.raises(InvalidInput, match="input_schema"):
        read_with(schema)


def test_a_schema_may_have_eight_kibibytes():
    assert read_with({"type": "object", "title": "x" * 8000})
    with pytest.raises(InvalidInput, match="8192 characters"):
        read_with({"type": "object", "title": "x" * 8192})


@pytest.mark.parametrize("report", [SkillReport, CatalogReport, Input, SkillResult])
@pytest.mark.parametrize(
    "payload", [b"", b"{", b"null", b"[]", b"\xff", b"[" * 9999, b'"\\ud800"', b"x" * (MAX_BYTES + 1)]
)
def test_what_is_no_report_is_refused_with_a_short_word(report, payload):
    with pytest.raises(InvalidInput) as refused:
        report.read(payload)
    assert len(refused.value.detail) <= 500


def test_no_character_that_a_database_refuses_gets_through():
    with pytest.raises(InvalidInput, match="NUL"):
        Input.read(json.dumps({"input_id": "in-1", "text": "a\x00b"}).encode())


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_no_number_that_json_does_not_have_gets_through(number):
    with pytest.raises(InvalidInput, match="input_schema"):
        read_with({"type": "object", "properties": {"x": {"default": number}}})
    slots = [{"name": "s", "default": number}]
    catalog = {"terminal_id": "lamp", "catalog_version": 1, "intent_catalog": []}
    catalog["intent_catalog"] = [{"id": "i", "name": "i", "match": {"keywords_any": ["x"]}, "slots": slots}]
    with pytest.raises(InvalidInput, match="slot s: its default"):
        CatalogReport.read(json.dumps(catalog).encode())
    with pytest.raises(InvalidInput, match="priority"):
        catalog["intent_catalog"] = [{"id": "i", "name": "i", "match": {"keywords_any": ["x"]}, "priority": number}]
        CatalogReport.read(json.dumps(catalog).encode())
