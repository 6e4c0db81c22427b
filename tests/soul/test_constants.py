from dataclasses import FrozenInstanceError

import pytest

from soulgraph.errors import ConfigurationError
from soulgraph.soul.constants import DEFAULT
from soulgraph.soul.dynamics import born, evolve
from soulgraph.soul.personality import traits_of


def test_an_override_changes_a_copy_and_the_behaviour():
    slow = DEFAULT.override({"tau_up": 2400, "x_bored": [-0.1, -0.2, -0.1]})
    infj = traits_of("INFJ")
    assert DEFAULT.tau_up == 900.0
    assert slow.x_bored == (-0.1, -0.2, -0.1)
    assert evolve(infj, born(infj, 0.0), 300.0, slow).boredom < evolve(infj, born(infj, 0.0), 300.0).boredom


def test_the_default_cannot_be_changed_in_place():
    with pytest.raises(FrozenInstanceError):
        DEFAULT.tau_up = 1.0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tau_down", 1.0),
        ("tau_up", "240"),
        ("tau_up", None),
        ("tau_up", True),
        ("tau_up", float("nan")),
        ("tau_up", float("inf")),
        ("tau_up", -1.0),
        ("tau_up", [240.0]),
        ("tau_s_min", 0.0),
        ("tau_max", 1.0),
        ("k_stability_offset", 0.0),
        ("p_base", 1.5),
        ("drift_max", 0.9),
        ("x_bored", -0.3),
        ("x_bored", [-0.3, -0.4]),
        ("x_bored", [-0.3, -0.4, float("nan")]),
        ("x_bored", [-0.3, -0.4, "low"]),
        ("tau_m_min", 5000.0),
    ],
)
def test_a_senseless_override_is_refused_by_name(name, value):
    with pytest.raises(ConfigurationError, match=f"^{name}: "):
        DEFAULT.override({name: value})
