"""Retrievers by kind."""

from builders.registry import Registry
from builders.retrieve.base import Retriever
from builders.retrieve.bm25 import Bm25
from builders.retrieve.dense import Dense
from builders.retrieve.entity import Entity
from builders.retrieve.lexical import Bm25s
from builders.retrieve.tfidf import TfIdf

RETRIEVERS: Registry[type[Retriever]] = Registry(
    "icr2.retrievers",
    "retriever",
    {
        "bm25": Bm25,
        "bm25s": Bm25s,
        "tfidf": TfIdf,
        "dense": Dense,
        "entity": Entity,
    },
    Retriever,
)
