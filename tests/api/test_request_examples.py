"""Every request body that the API describes comes with an example, and every example is accepted."""

from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from soulgraph.server import create_app
from soulgraph.settings import Settings


def test_every_request_body_has_an_example_and_accepts_it():
    routes = create_app(Settings.load()).routes
    bodies = {
        (min(route.methods), route.path): route.body_field.field_info
        for route in routes
        if isinstance(route, APIRoute) and route.body_field
    }
    assert len(bodies) > 40
    for call, field in bodies.items():
        body = TypeAdapter(field.annotation)
        examples = field.examples or body.json_schema().get("examples")
        assert examples, call
        for example in examples:
            body.validate_python(example)


def test_the_examples_are_in_the_description_of_the_api():
    described = create_app(Settings.load()).openapi()
    schema = described["paths"]["/v1/souls"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["examples"][0]["mbti_type"] == "INFJ"
