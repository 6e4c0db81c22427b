"""Cards become characters and characters cards, without a server."""

from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.api.cards import read_card
from soulgraph.api.library import stored
from soulgraph.library.cards.cutting import fair_shares
from soulgraph.library.cards.files import read_file
from soulgraph.library.cards.png import plain, with_texts, without_texts
from soulgraph.library.cards.spec import V2 as SPEC_V2
from soulgraph.library.cards.spec import V3 as SPEC_V3
from soulgraph.library.cards.words import fill_placeholders, split_decorators
from soulgraph.library.cards.writing import card_of
from soulgraph.tests.library.cards.samples import DECORATED, ENTRY, V1, V2, V3, as_bytes, charx, chunk, png, text_chunk


def kept(card):
    """The character as the library keeps it."""
    character = read_card(as_bytes(card)).character
    return character.name, stored(character)


def exported(card, spec=SPEC_V3):
    return card_of(*kept(card), spec)


def edited(card, **fields):
    name, data = kept(card)
    return card_of(fields.pop("name", name), {**data, **fields}, card["spec"])["data"]


@pytest.mark.parametrize("card", [V2, V3], ids=["v2", "v3"])
def test_a_card_that_nobody_edited_goes_back_word_for_word(card):
    assert exported(card, card["spec"]) == card


def test_a_v3_card_as_v2_has_no_word_that_v2_does_not_know():
    data = exported(V3, SPEC_V2)["data"]
    assert data.keys() == V2["data"].keys()
    assert data["extensions"] == V2["data"]["extensions"]
    entry = data["character_book"]["entries"][2]
    assert entry == {**DECORATED, "content": "The ghost ship has no crew."}
    assert data["character_book"]["entries"][:2] == V2["data"]["character_book"]["entries"]


def test_a_v2_card_as_v3_has_what_v3_demands():
    card = exported(V2)
    assert (card["spec"], card["spec_version"]) == (SPEC_V3, "3.0")
    assert card["data"]["group_only_greetings"] == []
    assert [entry["use_regex"] for entry in card["data"]["character_book"]["entries"]] == [False, False]


def test_a_v1_card_becomes_a_full_one():
    data = exported(V1, SPEC_V2)["data"]
    assert {field: data[field] for field in V1} == V1
    assert (data["creator_notes"], data["tags"], data["extensions"]) == ("", [], {})


def test_a_card_says_who_the_character_is_how_it_greets_and_what_it_knows():
    name, data = kept(V3)
    assert name == "Lumen"
    assert data["base_persona"] == (
        "Lu keeps a lighthouse and waits for the user.\n\nPersonality: dry, patient\n\n"
        "Scenario: A storm. Lu lets the user in.\n\n"
        "What the card's author asks for: Never leave the tower.\nAnswer as Lu."
    )
    assert data["greetings"] == ["The lamp is lit, the user. Sit.", "Fog today, the user."]
    assert data["style_examples"] == ["the user: Hello?\nLu: Hm.", "Lu: Short. Like waves."]
    reef, ghost = data["lore"]
    assert reef == {
        "id": "card.1",
        "keys": ["reef", "暗礁"],
        "secondary_keys": ["ship"],
        "use_regex": False,
        "content": "The reef took three ships of Lu's.",
        "enabled": True,
        "priority": 70,
        "constant": False,
    }
    assert (ghost["keys"], ghost["use_regex"]) == ([r"gh?ost\s+ship"], True)
    assert ghost["content"] == "The ghost ship has no crew."


def test_what_a_card_tells_people_is_in_no_text_that_prompts_are_made_of():
    _, data = kept(V3)
    texts = {field: value for field, value in data.items() if field != "extensions"}
    assert "NOTE-OF-THE-CREATOR" not in str(texts) and "CREATOR-NAME" not in str(texts)
    assert data["extensions"]["card"]["data"]["creator_notes"].startswith("NOTE-OF-THE-CREATOR")


def test_an_edit_changes_its_place_in_the_card_and_nothing_else():
    unchanged = V3["data"]
    data = edited(V3, greetings=["Hm."])
    assert data == {**unchanged, "first_mes": "Hm.", "alternate_greetings": []}
    data = edited(V3, base_persona="New.", name="Nova", style_examples=["One.", "Two."])
    silenced = dict.fromkeys(("personality", "scenario", "system_prompt", "post_history_instructions"), "")
    new = {"name": "Nova", "description": "New.", "mes_example": "<START>\nOne.\n<START>\nTwo."}
    assert {**data, "extensions": {}} == {**unchanged, **silenced, **new, "extensions": {}}


def test_an_edited_lorebook_keeps_what_we_do_not_know_of_its_entries():
    lore = deepcopy(kept(V3)[1]["lore"])
    lore[0]["priority"] = 90
    lore[0]["secondary_keys"] = []
    added = {"id": "tide", "keys": ["tide"], "content": "It turns at six."}
    book = edited(V3, lore=[lore[0], added])["character_book"]
    reef, tide, silent = book["entries"]
    changes = {"priority": 90, "insertion_order": 90, "secondary_keys": [], "selective": False}
    assert reef == {"use_regex": False, **ENTRY, **changes}
    assert (tide["keys"], tide["extensions"]) == (["tide"], {"soulgraph": {"id": "tide"}})
    assert (silent["content"], book["name"]) == ("", "Coast")


def test_an_entry_that_is_switched_on_is_not_switched_off_by_its_decorator():
    card = {
        **V3,
        "data": {**V3["data"], "character_book": {"entries": [{**DECORATED, "content": "@@dont_activate\nx"}]}},
    }
    [entry] = kept(card)[1]["lore"]
    data = edited(card, lore=[{**entry, "enabled": True}])
    assert data["character_book"]["entries"] == [{**DECORATED, "content": "x"}]


def test_a_character_of_ours_survives_as_a_card():
    ours = {
        "description": "Keeps the lighthouse.",
        "base_persona": "Lumen counts ships, not days.",
        "greetings": ["Sit."],
        "style_examples": ["Short."],
        "inner_state": "The sea was loud.",
        "mbti_type": "ISTJ",
        "initial_profile": {"dynamic_state": {"emotions": {"items": [{"content": "Calm", "priority": 5}]}}},
        "lore": [{"id": "reef", "keys": ["reef"], "content": "Sharp.", "priority": 70, "use_regex": True}],
        "extensions": {"avatar": "lumen.png"},
    }
    for spec in (SPEC_V2, SPEC_V3):
        name, back = kept(card_of("Lumen", ours, spec))
        assert name == "Lumen"
        assert back.pop("extensions").items() >= ours["extensions"].items()
        [entry] = back.pop("lore")
        assert entry.items() >= ours["lore"][0].items()
        for field in ours.keys() - {"lore", "extensions"}:
            assert back[field] == ours[field], (spec, field)
        assert card_of(name, kept(card_of(name, ours, spec))[1], spec) == card_of(name, ours, spec)


words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
others = st.dictionaries(words.filter(lambda key: key != "soulgraph"), json_values, max_size=3)
entries = st.fixed_dictionaries(
    {
        "keys": st.lists(words, max_size=4),
        "content": words | words.map("@@depth 2\n{}".format),
        "extensions": others,
        "enabled": st.booleans(),
        "insertion_order": st.integers(-5, 2000),
        "use_regex": st.just(False),
    },
    optional={
        "secondary_keys": st.lists(words, max_size=2),
        "selective": st.booleans(),
        "constant": st.booleans(),
        "priority": st.integers(0, 100),
        "comment": words,
        "id": st.integers(0, 9),
    },
)
books = st.fixed_dictionaries(
    {"extensions": others, "entries": st.lists(entries, max_size=4)}, optional={"name": words}
)
cards = st.builds(
    lambda texts, lists, rest: {**V3, "data": {**V3["data"], **texts, **lists, **rest}},
    st.fixed_dictionaries(
        dict.fromkeys(("description", "personality", "scenario", "first_mes", "mes_example", "nickname"), words)
    ),
    st.fixed_dictionaries({field: st.lists(words, max_size=3) for field in ("alternate_greetings", "tags")}),
    st.fixed_dictionaries({"extensions": others, "character_book": books}, optional={"x_new": json_values}),
)


@settings(max_examples=60, deadline=None)
@given(cards)
def test_any_v3_card_with_a_lorebook_goes_back_as_it_came(card):
    assert exported(card) == card
    as_v2 = exported(card, SPEC_V2)
    assert exported(as_v2, SPEC_V2) == as_v2


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("{{ CHAR }} and {{User}}", "Lu and the user"),
        ("{{char}} 等 {{user}}", "Lu 等 用户"),
        ("<BOT>, <user>, <Char>", "Lu, the user, Lu"),
        ("{{original}} now", "now"),
        ("{{random:red,blue}} {{pick::一,二}}", "red 一"),
        ("a{{// not this}}b{{comment: nor this}}", "ab"),
        ("{{unknown}} {char} {{char", "{{unknown}} {char} {{char"),
        ("{{random::calm::wild}} {{pick:a\\,b,c}} {{random::{{char}}::x}}", "calm a,b Lu"),
        ("{{time}}{{getvar::mood}}{{roll:1d6}}{{#if {{getvar::mood}}}}Angry{{/if}}{{trim}}.", "Angry."),
        ("a{{newline}}b ｛｛user｝｝ {{charIfNotGroup}}", "a\nb the user Lu"),
        ("{{char}}{{{{user}}}}", "Lu{{the user}}"),
    ],
)
def test_placeholders_are_filled_once(text, becomes):
    assert fill_placeholders(text, "Lu") == becomes


def test_hostile_placeholders_are_no_work():
    assert fill_placeholders("{{random:" + "a" * 300_000, "Lu").startswith("{{random:aaa")
    assert fill_placeholders("{{char}}", "{{user}}") == "{{user}}"


@pytest.mark.parametrize(
    ("content", "text", "decorators"),
    [
        ("plain @@depth 4", "plain @@depth 4", set()),
        ("@@depth 4\n@@@role user\n\nText\n@@later", "Text\n@@later", {"depth", "role"}),
        ("@@dont_activate", "", {"dont_activate"}),
        ("@@activate\n@@@dont_activate\n@@only_there 4\n@@@role user\nx", "x", {"activate", "only_there", "role"}),
        ("\n@@Activate\nx", "x", {"activate"}),
    ],
)
def test_decorators_stand_at_the_beginning(content, text, decorators):
    assert split_decorators(content) == (text, decorators)


def test_decorators_that_switch_an_entry_are_heard():
    def lore(content, **entry):
        card = deepcopy(V3)
        card["data"]["character_book"]["entries"] = [{**DECORATED, **entry, "content": content}]
        return kept(card)[1]["lore"][0]

    assert lore("@@activate\nx")["constant"]
    assert not lore("@@dont_activate\nx")["enabled"]
    assert lore("@@activate\n@@dont_activate\nx")["enabled"]
    assert not lore("x", enabled=False)["enabled"]


def test_what_decorators_want_survives_in_v2_which_has_none():
    card = deepcopy(V3)
    contents = ("@@activate\nx", "@@dont_activate\nx", "@@additional_keys sun, moon\n@@depth 2\nx")
    card["data"]["character_book"]["entries"] = [{**DECORATED, "use_regex": False, "content": one} for one in contents]
    name, data = kept(card)
    assert [(one["constant"], one["enabled"], one["secondary_keys"]) for one in data["lore"]] == [
        (True, True, []),
        (False, False, []),
        (False, True, ["sun", "moon"]),
    ]
    assert kept(card_of(name, data, SPEC_V2))[1]["lore"] == data["lore"]


def test_an_entry_that_is_edited_keeps_what_else_its_decorators_wanted():
    card = deepcopy(V3)
    card["data"]["character_book"]["entries"] = [{**DECORATED, "content": "@@activate\nx"}]
    [entry] = kept(card)[1]["lore"]
    [changed] = edited(card, lore=[{**entry, "enabled": False}])["character_book"]["entries"]
    assert (changed["content"], changed["enabled"], changed["constant"]) == ("x", False, True)


def test_a_nickname_stands_beside_the_data_of_v2_and_comes_back():
    as_v2 = exported(V3, SPEC_V2)
    assert (as_v2["nickname"], "nickname" in as_v2["data"]) == ("Lu", False)
    assert kept(as_v2)[1]["base_persona"] == kept(V3)[1]["base_persona"]
    assert exported(as_v2)["data"]["nickname"] == "Lu"


def test_parts_of_a_persona_share_what_there_is():
    assert fair_shares({"a": 90, "b": 4, "c": 50}, 60) == {"b": 4, "c": 28, "a": 28}
    assert fair_shares({"a": 9, "b": 4}, 60) == {"a": 9, "b": 4}


def test_every_kind_of_file_is_read():
    assert read_file(b"\xef\xbb\xbf " + as_bytes(V1)) == V1
    assert read_file(png(text_chunk(b"chara", V2))) == V2
    assert read_file(png(text_chunk(b"Chara", V2), text_chunk(b"ccv3", V3))) == V3
    assert read_file(charx([("card.json", as_bytes(V3)), ("assets/icon/images/a.png", b"x")])) == V3


def test_a_picture_carries_its_texts_and_is_the_same_without_them():
    empty = plain("小满")
    made = with_texts(empty, {"chara": as_bytes(V2), "ccv3": as_bytes(V3)})
    assert read_file(made) == V3
    assert made.count(b"chara\0") == made.count(b"ccv3\0") == 1
    assert without_texts(made) == without_texts(empty) == empty != plain("Lumen")
    assert read_file(with_texts(empty, {"chara": as_bytes(V2)})) == V2


def test_a_picture_that_is_too_large_to_keep_is_told():
    large = png(text_chunk(b"chara", V2), chunk(b"IDAT", b"\0" * (4 * 1024 * 1024)))
    card = read_card(large)
    assert card.images == {} and card.notes[-1].startswith("the picture has 4194")


def test_assets_that_came_inside_the_file_and_cannot_be_read_are_left_out_and_told():
    card = deepcopy(V3)
    inside = [
        {"type": "emotion", "uri": uri, "name": "joy", "ext": "png"} for uri in ("embeded://a.png", "data:;base64,AAAA")
    ]
    card["data"]["assets"] = [inside[0], *V3["data"]["assets"], inside[1]]
    character, images, notes = read_card(as_bytes(card))
    told = "\n".join(notes)
    assert "data.assets.0 (emotion, joy): the picture is not kept: a.png: the file is not there" in told
    assert "data.assets.2 (emotion, joy): the picture is not kept: the file is no picture" in told
    assert images == {}
    assert card_of(character.name, stored(character), SPEC_V3) == V3


WITHOUT_EFFECT = [
    "kept for exports, without effect here: creator_notes, creator_notes_multilingual, tags, group_only_greetings, "
    "extensions.fav, extensions.agnai/voice, character_book.scan_depth, "
    "@@depth (entries: 1), @@role (entries: 1), @@activate_only_after (entries: 1)"
]


def test_what_is_kept_without_effect_is_said():
    assert read_card(as_bytes(V3)).notes == WITHOUT_EFFECT
    plain_card = {**V3, "data": {**V3["data"], "extensions": {"talkativeness": "0.5", "fav": False}}}
    assert "extensions" not in read_card(as_bytes(plain_card)).notes[0]


def test_what_is_too_long_is_cut_at_a_sentence_and_the_export_has_all_of_it():
    sentence = "She counts ships, not days, and does not say why. "
    card = deepcopy(V3)
    data = card["data"]
    data["name"] = "Lumen " + "of the Lighthouse " * 8
    data["description"] = sentence * 500
    data["alternate_greetings"] = [*(f"Hello {n}." for n in range(260)), "词" * 9000]
    data["mes_example"] = "<START>" + "word " * 3000
    data["character_book"]["entries"] = [
        {**ENTRY, "content": sentence * (1 if n else 100), "use_regex": False} for n in range(501)
    ]
    made = read_card(as_bytes(card))
    character, notes = made.character, "\n".join(made.notes)
    assert len(character.name) <= 80 and character.name.endswith(" of")
    assert 19_000 < len(character.base_persona) <= 20_000
    assert "does not say why.\n\nPersonality: dry, patient\n\nScenario: A storm." in character.base_persona
    assert character.base_persona.endswith("Answer as Lu.")
    assert (len(character.greetings), len(character.lore)) == (250, 500)
    assert len({entry.id for entry in character.lore}) == 500
    assert character.lore[0].content.endswith("why.") and len(character.style_examples[0]) <= 8000
    for said in (
        "data.name: 80 of 149 characters",
        "characters are kept, at most 20,000 can be",
        "data.first_mes and alternate_greetings: the first 250 of 262 are kept",
        "data.mes_example.0: ",
        "data.character_book.entries: the first 500 of 501",
        "data.character_book.entries.0: 3,999 of 4,999 characters",
    ):
        assert said in notes, said
    assert card_of(character.name, stored(character), SPEC_V3) == card
