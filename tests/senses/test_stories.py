"""What people say, told as stories, and what a soul of each type makes of it."""

import pytest

from soulgraph.tests.senses.stories import Story, played, stories


@pytest.mark.parametrize("story", [*stories("open"), *stories("held")], ids=lambda story: story["name"])
def test_a_story_ends_as_people_expect(story: Story) -> None:
    assert played(story).broken == []
