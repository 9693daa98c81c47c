"""Invented facts: unique names, and sentences with exactly the required entities."""

import re
import string
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.synthetic.names import Names
from builders.synthetic.world import SPLITS, World, templates
from builders.text import contains

RELATIONS = templates()["relations"]


@given(st.sets(st.integers(0, 99_999), min_size=2, max_size=50), st.text(max_size=3))
def test_no_two_numbers_have_one_word(numbers: set[int], seed: str) -> None:
    names = Names(seed, 2)
    words = {names.word(number) for number in numbers}
    assert len(words) == len(numbers)
    assert all(re.fullmatch("[A-Z][a-z]+", word) for word in words)


def test_all_words_of_one_syllable() -> None:
    names = Names("v1", 1)
    assert len({names.word(number) for number in range(names.size)}) == names.size == 20 * 5 * 10


def test_words_depend_on_the_seed() -> None:
    assert [Names("a", 3).word(n) for n in range(5)] != [Names("b", 3).word(n) for n in range(5)]


def test_neighbours_do_not_look_alike() -> None:
    words = [Names("v1", 3).word(n) for n in range(500)]
    assert sum(a[:3] == b[:3] for a, b in pairwise(words)) < 25


@pytest.mark.parametrize("relation", RELATIONS)
def test_templates(relation: str) -> None:
    about, entities = RELATIONS[relation], templates()["entities"]
    assert {about["subject"], about["object"]} <= set(entities)
    assert len(set(about["statements"])) >= 4
    for statement in about["statements"]:
        assert sorted(field for _, field, _, _ in string.Formatter().parse(statement) if field) == ["o", "s"]
    assert about["question"].count("{s}") == 1 and "{o}" not in about["question"]


def test_chains_are_chains() -> None:
    for chain in templates()["chains"]:
        first, second = (RELATIONS[name] for name in chain["relations"])
        assert first["object"] == second["subject"]


def test_every_page_has_sentences() -> None:
    data = templates()
    for about in RELATIONS.values():
        fillers = data["fillers"][data["entities"][about["subject"]]["page"]]
        assert len(set(fillers)) >= 8
        assert all("{s}" in filler and "{o}" not in filler for filler in fillers)


def words_of(world: World) -> set[str]:
    facts = [world.fact(relation, cluster) for relation in world.relations for cluster in range(world.clusters)]
    return {entity.word for fact in facts for entity in (fact.subject, fact.object)}


def test_no_name_in_two_splits_or_clusters() -> None:
    worlds = [World("v1", split, 40) for split in SPLITS]
    found = [words_of(world) for world in worlds]
    assert sum(map(len, found)) == len(set().union(*found))
    assert all(len(words) == 40 * len(templates()["entities"]) for words in found)


def test_a_fact_names_its_subject_and_object_and_no_other() -> None:
    world = World("v1", "test", 30)
    others = words_of(world)
    for relation in world.relations:
        for cluster in range(30):
            fact = world.fact(relation, cluster)
            assert contains(fact.subject.name, fact.text) and contains(fact.object.name, fact.text)
            own = {fact.subject.word, fact.object.word}
            assert not [word for word in others - own if contains(word, fact.text)]
            assert 1 <= len(re.findall(r"[.](?: |$)", fact.text)) <= 3
            assert not re.search(r"\s\s|[{}]", fact.text) and fact.text.endswith(".")


def test_a_fact_does_not_depend_on_how_many_there_are() -> None:
    small, large = World("v1", "test", 20), World("v1", "test", 200)
    for relation in small.relations:
        a, b = small.fact(relation, 19), large.fact(relation, 19)
        assert (a.pid, a.text) == (b.pid, b.text)


def test_questions_need_the_facts_that_they_name() -> None:
    world = World("v1", "test", 60)
    for number in range(2 * len(world.relations)):
        one, two = world.one_hop(number, 2 * number), world.two_hop(number, 2 * number + 1)
        assert contains(one.facts[0].subject.name, one.query)
        assert one.answers[0] == one.facts[0].object.name
        first, second = two.facts
        assert first.object.word == second.subject.word
        assert contains(first.subject.name, two.query)
        assert not contains(first.object.word, two.query)
        assert two.answers == second.object.names
        for asked in (one, two):
            assert not any(contains(answer, asked.query) for answer in asked.answers)


def test_people_are_called_by_both_names_and_by_their_own() -> None:
    asked = World("v1", "test", 60).one_hop(1, 2)
    full, family = asked.answers
    assert full.endswith(f" {family}") and len(full.split()) == 2
