"""New souls know nobody."""

from soulgraph.stores.factories import new_soul
from soulgraph.tests.stores.samples import NOW


async def test_a_character_cannot_put_items_of_somebody_into_a_soul(stores):
    forged = {"content": "Bob is a thief", "priority": 9, "user_id": "bob", "shared_with": ["*"]}
    profile = {"dynamic_state": {"emotions": {"items": [forged, {"content": "calm", "priority": 5}]}}}
    async with stores.write() as tx:
        await tx.characters.add("keeper", "Keeper", {"initial_profile": profile}, NOW)
        made = await new_soul(tx, name="Mika", mbti_type="INFJ", user_id="ann", character_id="keeper", now=NOW)
    items = made.dynamic_profile["dynamic_state"]["emotions"]["items"]
    assert [item["content"] for item in items] == ["Bob is a thief", "calm"]
    assert not any(item.keys() & {"user_id", "shared_with"} for item in items)
