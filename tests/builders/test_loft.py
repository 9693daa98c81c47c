from hypothesis import given
from hypothesis import strategies as st

from builders.filters import AnswerFilter
from builders.loft import Member, deal, leaks
from builders.schema import Passage


def member(n: int, text: str, answers: list[str], tokens: int = 10, barred: tuple[int, ...] = ()) -> Member:
    return Member(f"q{n:02d}", [Passage(n, f"p{n}:0", f"Title {n}", text, "gold")], list(barred), answers, tokens)


def ids(groups: list) -> list[list[str]]:
    return [[m.id for m in group] for group in groups]


def test_dealt_in_id_order_into_the_first_group_with_room() -> None:
    members = [member(n, f"text number {n} of its own", [f"answer{n}"]) for n in (3, 1, 2)]
    assert ids(deal(members, 20, AnswerFilter())) == [["q01", "q02"], ["q03"]]


def test_an_answer_in_anothers_gold_keeps_them_apart() -> None:
    paris = member(1, "Paris lies on the Seine.", ["Seine"])
    bridge = member(2, "The oldest bridge over the Seine is new.", ["Pont Neuf"])
    free = member(3, "Oslo has trams.", ["trams"])
    assert ids(deal([paris, bridge, free], 100, AnswerFilter())) == [["q01", "q03"], ["q02"]]
    assert ids(deal([bridge, paris], 100, AnswerFilter())) == [["q01"], ["q02"]]


def test_a_shared_gold_passage_is_no_leak() -> None:
    one = member(1, "Paris lies on the Seine.", ["Seine"])
    same = Member("q02", one.gold, [], ["Seine"], 10)
    assert not leaks(same, deal([one], 100, AnswerFilter())[0], AnswerFilter())


def test_gold_that_touches_anothers_provenance_keeps_them_apart() -> None:
    one = member(1, "Paris lies on a river.", [], barred=(2,))
    other = member(2, "Oslo has trams.", [])
    assert len(deal([one, other], 100, AnswerFilter())) == 2


@given(st.lists(st.integers(1, 50), min_size=1, max_size=12), st.integers(50, 100))
def test_every_query_once_and_no_group_over_its_room(tokens: list[int], room: int) -> None:
    members = [member(n, f"own words {n} {n * 7} {n * 11}", [f"x{n}"], t) for n, t in enumerate(tokens)]
    groups = deal(members, room, AnswerFilter())
    assert sorted(m.id for g in groups for m in g) == [m.id for m in members]
    assert all(sum(m.tokens for m in group) <= room for group in groups)
    assert deal(members[::-1], room, AnswerFilter()) == groups
