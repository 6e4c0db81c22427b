"""The things that the examples of `/docs` speak of: the same ones everywhere, so that examples lead to each other."""

SOUL = "soul_c3fa2c45bf3f4b88a7066098cb4ff9a8"

KEYS = {
    "background": "sea",
    "character": "lumen",
    "event": "event_5d1c",
    "fact": "fact_71f0",
    "image": "avatar",
    "inner state version": "1",
    "job": "1",
    "key": "a618906c",
    "lore entry": "reef",
    "message": "1",
    "model": "soul:小满",
    "persona version": "1",
    "plan": "plan_9be2",
    "preference": "tone",
    "relation": "ann",
    "retired item": "item_3f9c",
    "session": "first",
    "slot": "3",
    "soul": SOUL,
    "template": "plain",
    "terminal": "desk-lamp",
    "turn": "turn_c6ca",
}
"""By what `not_found` calls their kind."""

_KINDS: dict[str, str] = {
    "background_id": "background",
    "character_id": "character",
    "entry_id": "lore entry",
    "event_id": "event",
    "fact_id": "fact",
    "job_id": "job",
    "key": "preference",
    "key_id": "key",
    "message_id": "message",
    "model": "model",
    "name": "image",
    "plan_id": "plan",
    "session_id": "session",
    "soul_id": "soul",
    "template_id": "template",
    "terminal_id": "terminal",
    "turn_id": "turn",
    "user_id": "relation",
}
"""What the parameters of paths name."""
_PLACES = {
    "/v1/characters": {"preset_id": "character"},
    "/v1/backgrounds": {"preset_id": "background"},
    "/v1/souls/{soul_id}/slots": {"n": "slot"},
    "/v1/souls/{soul_id}/inner-state": {"n": "inner state version"},
    "/v1/sessions": {"n": "persona version"},
}
"""Of parameters that mean something else in each place."""


def kind_of(parameter: str, path: str) -> str | None:
    """What a parameter names: some names say it only together with the path."""
    for place, kinds in _PLACES.items():
        if path.startswith(place) and parameter in kinds:
            return kinds[parameter]
    return _KINDS.get(parameter)
