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
