"""Groups of needles: the bundled ones are valid, and an invalid one is named."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from builders.errors import SetupError
from builders.synthetic.needle_groups import read_groups
from builders.synthetic.needles import GROUPS as BUNDLED
from builders.text import contains, normalise
from tests.builders.synthetic.haystack_texts import GROUPS, write_groups

Groups = dict[str, dict[str, Any]]


def test_there_are_groups_enough_and_none_breaks_a_rule() -> None:
    groups = read_groups(BUNDLED)
    assert len(groups) >= 40
    assert len({group.category for group in groups}) >= 8
    assert len({normalise(group.wording.question) for group in groups}) == len(groups)


def test_no_name_holds_another() -> None:
    """Yuki is contained in Yukiko, so one answer could match another's."""
    names = [group.wording.name for group in read_groups(BUNDLED)]
    assert not [(a, b) for a in names for b in names if a != b and a.lower() in b.lower()]


def test_every_needle_has_its_name_once() -> None:
    for group in read_groups(BUNDLED):
        for *_, text in group.needles:
            assert contains(group.wording.name, text)
            assert text.count(group.wording.name) == 1
            assert text.endswith(".")


def test_a_file_keeps_its_order(tmp_path: Path) -> None:
    groups = read_groups(write_groups(tmp_path / "groups.yaml"))
    assert [group.id for group in groups] == ["landmark-lisbon", "diet-dairy"]
    assert [needle[:2] for needle in groups[0].needles] == [
        ("one_hop", "default"),
        ("one_hop", "inverted"),
        ("literal", "default"),
        ("literal", "inverted"),
    ]


def _shared(groups: Groups) -> None:
    groups["diet"]["dairy"]["one_hop"]["default"] = "Bertil is quite a character after yoghurt."


def _inflected(groups: Groups) -> None:
    groups["landmark"]["lisbon"]["question"] = "Which character chose to live in Lisbon?"


def _not_literal(groups: Groups) -> None:
    groups["diet"]["dairy"]["literal"]["inverted"] = "A glass of milk means a sleepless night for Bertil."


def _no_name(groups: Groups) -> None:
    groups["diet"]["dairy"]["one_hop"]["inverted"] = "A spoonful of yoghurt means a sleepless night for Bertilsson."


def _wrong_half(groups: Groups) -> None:
    orders = groups["landmark"]["lisbon"]["one_hop"]
    orders["default"], orders["inverted"] = orders["inverted"], orders["default"]


def _name_in_question(groups: Groups) -> None:
    groups["diet"]["dairy"]["question"] = "Which dairy did Bertil buy?"


def _same_question(groups: Groups) -> None:
    groups["landmark"]["again"] = groups["landmark"]["lisbon"] | {"name": "Ove"}
    for needle in ("one_hop", "literal"):
        orders = groups["landmark"]["lisbon"][needle]
        groups["landmark"]["again"][needle] = {order: text.replace("Tove", "Ove") for order, text in orders.items()}


def _same_name(groups: Groups) -> None:
    _same_question(groups)
    again = deepcopy(groups["landmark"]["again"])
    again["question"] = "Which character once saw Lisbon?"
    again["name"] = "Tove Holm"
    for needle in ("one_hop", "literal"):
        again[needle] = {order: text.replace("Ove", "Tove Holm") for order, text in again[needle].items()}
    groups["landmark"]["again"] = again


def _unknown_key(groups: Groups) -> None:
    groups["diet"]["dairy"]["two_hop"] = "..."


def _bad_key(groups: Groups) -> None:
    groups["diet"]["../dairy"] = groups["diet"].pop("dairy")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_shared, "group diet-dairy: the one_hop default needle shares a content word with the question: character"),
        (_inflected, "group landmark-lisbon: the one_hop default needle shares .*: live/lives"),
        (_not_literal, "group diet-dairy: the literal inverted needle shares no content word"),
        (_no_name, "group diet-dairy: the one_hop inverted needle does not contain the name Bertil"),
        (_wrong_half, "group landmark-lisbon: the one_hop default needle has the name in the wrong half"),
        (_name_in_question, "group diet-dairy: the question names Bertil"),
        (_same_question, "groups landmark-lisbon and landmark-again ask the same"),
        (_same_name, "groups landmark-lisbon and landmark-again have characters with the same name"),
        (_unknown_key, "diet.dairy.two_hop"),
        (_bad_key, "invalid name"),
    ],
)
def test_a_group_that_breaks_a_rule_is_named(change: Callable[[Groups], None], says: str, tmp_path: Path) -> None:
    groups = deepcopy(GROUPS)
    change(groups)
    with pytest.raises(SetupError, match=says):
        read_groups(write_groups(tmp_path / "groups.yaml", groups))


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "a: [", "landmark: {}\n"])
def test_a_file_without_groups_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "groups.yaml").write_text(text)
    with pytest.raises(SetupError, match=r"groups\.yaml"):
        read_groups(tmp_path / "groups.yaml")
