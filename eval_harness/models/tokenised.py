"""A prompt that carries its tokens."""

from array import array
from collections.abc import Sequence
from itertools import chain


class Tokenised(str):
    """The text of a prompt with its tokens, so that they are not made again; text that is made of it has none.

    `ids` are those of the prompt as it is sent, `places` the characters that each of them comes from, None where the
    tokenizer cannot say; `by` is the template that made them. Both are held in four bytes a number.
    """

    by: object
    _numbers: "array[int]"
    _n: int

    @classmethod
    def of(cls, text: str, ids: Sequence[int], places: Sequence[tuple[int, int]] | None, by: object) -> "Tokenised":
        """A text with its tokens."""
        sides = [*zip(*places, strict=True)] if places else []
        return cls.read(text, array("i", chain(ids, *sides)), len(ids), by)

    @classmethod
    def read(cls, text: str, numbers: "array[int]", n: int, by: object) -> "Tokenised":
        """A text with the numbers of one, and how many tokens it has."""
        found = cls(text)
        found._numbers, found._n, found.by = numbers, n, by
        return found

    @property
    def numbers(self) -> "array[int]":
        """All that it holds: ids, then where they start and end."""
        return self._numbers

    @property
    def n_tokens(self) -> int:
        """How many tokens it has."""
        return self._n

    @property
    def ids(self) -> list[int]:
        """Its tokens."""
        return self._numbers[: self._n].tolist()

    @property
    def places(self) -> list[tuple[int, int]] | None:
        """The characters that each token comes from."""
        n = self._n
        starts, ends = self._numbers[n : 2 * n], self._numbers[2 * n :]
        return [*zip(starts, ends, strict=True)] if len(ends) == n else None
