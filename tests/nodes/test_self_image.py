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
