"""Facts about invented people, places and things."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml

from builders.seeds import rng_for
from builders.synthetic.names import Names

MOST_CLUSTERS = 2**14
SPLITS = ("test", "validation", "train")
FIRST_NAMES = 64
MOST_FILLERS = 2  # sentences besides the one that states the fact
TEMPLATES = Path(__file__).with_name("controlled.yaml")
MOST_NUMBER = 97  # in a sentence


class Entity(NamedTuple):
    """An entity with an invented name: its shown form, and its own word."""

    name: str
    word: str

    @property
    def names(self) -> list[str]:
        """Its full name first, then its own word if that is a name by itself."""
        return list(dict.fromkeys((self.name, self.word)))


class Fact(NamedTuple):
    """A statement about a subject; `row` is its number among all facts of its world."""

    row: int
    pid: str
    subject: Entity
    object: Entity
    text: str


class Asked(NamedTuple):
    """A question about a cluster: the facts that it needs, in hop order."""

    query: str
    facts: list[Fact]

    @property
    def answers(self) -> list[str]:
        """The object of the last fact: its full name, then other names."""
        return self.facts[-1].object.names


class World:
    """The facts of one split: a number of clusters, each with one fact of every relation.

    A fact depends only on the seed, the split, its relation and the number of its cluster.
    """

    def __init__(self, seed: str, split: str, clusters: int) -> None:
        self._seed, self._split, self.clusters = seed, split, clusters
        self._words, self._first_names = Names(seed, 3), Names(seed, 2)
        self._templates = templates()
        self.relations: list[str] = list(self._templates["relations"])
        self.fact = lru_cache(None)(self._fact)

    def one_hop(self, number: int, cluster: int) -> Asked:
        """A question about one fact of a cluster; the number chooses the relation."""
        return self._asked([self.relations[number % len(self.relations)]], cluster)

    def two_hop(self, number: int, cluster: int) -> Asked:
        """A question about two facts of a cluster, whose second is about the first one's object."""
        chains = self._templates["chains"]
        return self._asked(chains[number % len(chains)]["relations"], cluster)

    def relation_of(self, fact: Fact) -> str:
        """The relation of a fact."""
        return self.relations[fact.row // self.clusters]

    def _asked(self, relations: Sequence[str], cluster: int) -> Asked:
        facts = [self.fact(relation, cluster) for relation in relations]
        if len(relations) == 1:
            query = self._templates["relations"][relations[0]]["question"]
        else:
            query = next(c["question"] for c in self._templates["chains"] if c["relations"] == relations)
        return Asked(query.format(s=facts[0].subject.name), facts)

    def _fact(self, relation: str, cluster: int) -> Fact:
        about = self._templates["relations"][relation]
        subject, object = (self._entity(about[part], cluster) for part in ("subject", "object"))
        rng = rng_for(self._seed, self._split, relation, str(cluster))
        statement = rng.choice(about["statements"]).format(s=subject.name, o=object.name)
        page = self._templates["entities"][about["subject"]]["page"]
        chosen = rng.sample(self._templates["fillers"][page], rng.randint(0, MOST_FILLERS))
        place = rng.randint(0, len(chosen))
        # after the first sentence, a person is referred to by the family name
        later = subject.word if page == "person" else subject.name
        names = [subject.name if at == 0 < place else later for at in range(len(chosen))]
        sentences = [self._filled(filler, name, rng) for filler, name in zip(chosen, names, strict=True)]
        sentences.insert(place, statement)
        number = self.relations.index(relation)
        pid = f"{self._split}-{cluster:05d}-{about['subject']}:{number}"
        return Fact(number * self.clusters + cluster, pid, subject, object, " ".join(sentences))

    def _filled(self, filler: str, name: str, rng: Random) -> str:
        drawn = {slot: rng.choice(self._templates[slot]) for slot in ("season", "colour", "trade")}
        return filler.format(s=name, n=rng.randint(11, MOST_NUMBER), **drawn)

    def _entity(self, kind: str, cluster: int) -> Entity:
        kinds = list(self._templates["entities"])
        number = (SPLITS.index(self._split) * MOST_CLUSTERS + cluster) * len(kinds) + kinds.index(kind)
        word = self._words.word(number)
        rng = rng_for(self._seed, "name", str(number))
        first = self._first_names.word(rng.randrange(FIRST_NAMES))
        shown = self._templates["entities"][kind]["shown"]
        return Entity(shown.format(word=word, first=first, noun=rng.choice(self._templates["nouns"])), word)


@cache
def templates() -> Mapping[str, Any]:
    """Entities, relations, chains and sentences of controlled.yaml."""
    return yaml.safe_load(TEMPLATES.read_text(encoding="utf-8"))
