"""Groups of queries that share one context of gold and random passages, as LOFT has them (Lee et al. 2024)."""

from collections.abc import Sequence
from typing import NamedTuple

from builders.filters import AnswerFilter, drop_reasons
from builders.schema import Passage

GOLD_SHARE = 0.6  # of the budget, at most, that the gold of a group may fill


class Member(NamedTuple):
    """A query of a group; `tokens` is what its gold adds to a context, `answers` are its text answers."""

    id: str
    gold: list[Passage]
    barred: list[int]
    answers: list[str]
    tokens: int


class Group(list[Member]):
    """Queries whose gold shares one context."""

    @property
    def gold(self) -> list[Passage]:
        """The gold of all queries, once each."""
        return list({passage.row: passage for member in self for passage in member.gold}.values())

    @property
    def barred(self) -> list[int]:
        """The rows that touch a provenance of any query."""
        return [row for member in self for row in member.barred]

    @property
    def answers(self) -> list[str]:
        """The text answers of all queries."""
        return [answer for member in self for answer in member.answers]


def deal(members: Sequence[Member], room: int, answer_filter: AnswerFilter) -> list[Group]:
    """Groups of queries in id order, each in the first group with enough budget and no leak in either direction.

    A query's gold leaks into a group if it contains another query's answer, overlaps another's provenance, or nearly
    repeats another's gold; a passage that is gold for both is not a leak.
    """
    groups: list[Group] = []
    filled: list[int] = []
    for member in sorted(members, key=lambda m: m.id):
        for number, group in enumerate(groups):
            if filled[number] + member.tokens <= room and not leaks(member, group, answer_filter):
                group.append(member)
                filled[number] += member.tokens
                break
        else:
            groups.append(Group([member]))
            filled.append(member.tokens)
    return groups


def leaks(member: Member, group: Group, answer_filter: AnswerFilter) -> bool:
    """Whether the member's gold leaks into the group's queries, or the group's gold into its own."""
    own, others = {p.row for p in member.gold}, {p.row for p in group.gold}
    into = [p for p in member.gold if p.row not in others]
    back = [p for p in group.gold if p.row not in own]
    reasons = [
        *drop_reasons(into, group.gold, group.barred, group.answers, answer_filter),
        *drop_reasons(back, member.gold, member.barred, member.answers, answer_filter),
    ]
    return any(reason in ("gold_overlap", "contains_answer") for reason in reasons)
