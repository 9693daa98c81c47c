"""Invented words: different numbers give different words, so used words need not be tracked."""

from math import gcd

from builders.seeds import rng_for

_ONSETS = "b br d dr f g gl h k l m n p r s st t tr v z".split()
_VOWELS = "a e i o u".split()
_CODAS = "l m n r s t sh nd rk th".split()


class Names:
    """Words of a fixed number of syllables, scattered over all combinations.

    Consonants between two vowels are one onset and the last ones the coda, so every word has a unique spelling-out.
    """

    def __init__(self, seed: str, syllables: int) -> None:
        self._syllables = syllables
        self.size = (len(_ONSETS) * len(_VOWELS)) ** syllables * len(_CODAS)
        rng = rng_for(seed, "names", str(syllables))
        self._offset = rng.randrange(self.size)
        self._step = rng.randrange(self.size // 3, self.size // 2)
        while gcd(self._step, self.size) > 1:
            self._step += 1

    def word(self, number: int) -> str:
        """The capitalised word of a number below `size`."""
        place = (self._offset + number * self._step) % self.size
        place, coda = divmod(place, len(_CODAS))
        parts = [_CODAS[coda]]
        for _ in range(self._syllables):
            place, vowel = divmod(place, len(_VOWELS))
            place, onset = divmod(place, len(_ONSETS))
            parts.append(_ONSETS[onset] + _VOWELS[vowel])
        return "".join(reversed(parts)).capitalize()
