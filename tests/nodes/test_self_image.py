from soulgraph.nodes.context import Memory
from soulgraph.nodes.self_image import self_image
from soulgraph.stores.workspace import Workspaces
from soulgraph.tests.nodes.samples import small_context
from soulgraph.tests.stores.samples import session, snapshot, soul

GROWN = session(character_snapshot=snapshot(base_persona="A keeper.", evolved_persona="Softer."))


def test_a_soul_knows_its_name_its_persona_and_its_files(tmp_path):
    workspaces = Workspaces(tmp_path)
    workspaces.folder("soul_1").mkdir(parents=True)
    for name, text in (("SOUL.md", "Be kind."), ("USER.md", "Lin likes rain. " * 500)):
        (workspaces.folder("soul_1") / name).write_text(text)
    image = self_image(soul(name="Mika"), GROWN, small_context(memory=Memory(workspaces=workspaces)), "en", "user_1")
    base, personality, evolved = image["persona"]
    assert (image["name"], base, evolved, image["soul_file"]) == ("Mika", "A keeper.", "Softer.", "Be kind.")
    assert "warm" in personality
    assert image["user_file"].startswith("Lin likes rain.")
    assert len(image["user_file"]) <= 2000


def test_without_files_it_knows_the_rest():
    image = self_image(soul(name="Mika"), GROWN, small_context(), "en", "user_1")
    assert (image["name"], image["soul_file"], image["user_file"]) == ("Mika", "", "")


def test_the_file_about_a_person_is_there_only_with_that_person_alone(tmp_path):
    workspaces = Workspaces(tmp_path)
    for user_id in ("ann", "bob"):
        folder = workspaces.folder("soul_1") / "people" / user_id
        folder.mkdir(parents=True)
        (folder / "USER.md").write_text(f"About {user_id}.")
    (workspaces.folder("soul_1") / "USER.md").write_text("About the owner.")
    context = small_context(memory=Memory(workspaces=workspaces))

    def file_for(user_id, **fields):
        return self_image(soul(user_id="owner"), session(user_id=user_id, **fields), context, "en", user_id)[
            "user_file"
        ]

    assert [file_for(one) for one in ("ann", "bob", "owner", "carl")] == [
        "About ann.",
        "About bob.",
        "About the owner.",
        "",
    ]
    assert file_for("ann", people=("bob",)) == ""
    assert file_for("../../souls/soul_1/people/bob") == ""


def test_a_soul_that_takes_part_in_anothers_session_has_its_own_character():
    guest = snapshot(base_persona="A guest.")
    place = session(character_snapshot=snapshot(base_persona="The host."), souls={"soul_2": guest})
    assert self_image(soul("soul_2"), place, small_context(), "en", "ann")["persona"][0] == "A guest."
    assert self_image(soul("soul_1"), place, small_context(), "en", "ann")["persona"][0] == "The host."
