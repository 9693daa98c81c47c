"""Retrievers by kind."""

from builders.retrieve.base import Retriever
from builders.retrieve.bm25 import Bm25
from builders.retrieve.dense import Dense

RETRIEVERS: dict[str, type[Retriever]] = {"bm25": Bm25, "dense": Dense}
