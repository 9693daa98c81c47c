"""Texts and groups of needles for small haystacks: invented words, so that only planted words are shared."""

from pathlib import Path
from random import Random
from typing import Any

import yaml

SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("ab", "ek", "il", "or", "um")]

GROUPS: dict[str, dict[str, Any]] = {
    "landmark": {
        "lisbon": {
            "name": "Tove",
            "question": "Which character has been to Lisbon?",
            "one_hop": {
                "default": "Tove lives right beside the Belém Tower.",
                "inverted": "Right beside the Belém Tower is the flat of Tove.",
            },
            "literal": {
                "default": "Tove lives in the heart of Lisbon.",
                "inverted": "In the heart of Lisbon is the flat of Tove.",
            },
        }
    },
    "diet": {
        "dairy": {
            "name": "Bertil",
            "question": "Which character cannot have dairy?",
            "one_hop": {
                "default": "Bertil sleeps badly after a spoonful of yoghurt.",
                "inverted": "A spoonful of yoghurt means a sleepless night for Bertil.",
            },
            "literal": {
                "default": "Bertil sleeps badly after a little dairy.",
                "inverted": "A little dairy means a sleepless night for Bertil.",
            },
        }
    },
}


def write_texts(folder: Path, seed: int = 1, paragraphs: int = 250) -> Path:
    """Writes two text files; every seventh paragraph has a word of a needle or question in one of its sentences."""
    rng = Random(seed)
    barred = ["towers", "living", "slept", "dairy", "characters", "Lisbon", "flats", "Bertil"]
    folder.mkdir(parents=True, exist_ok=True)
    texts = []
    for number in range(paragraphs):
        sentences = [_sentence(rng, rng.randint(2, 6)) for _ in range(rng.randint(1, 5))]
        if number % 7 == 0:
            words = sentences[-1].rstrip(".").split()
            sentences[-1] = " ".join([*words, barred[number // 7 % len(barred)]]) + "."
        texts.append(" ".join(sentences))
    half = len(texts) // 2
    (folder / "one.txt").write_text("\n\n".join(texts[:half]), encoding="utf-8")
    (folder / "two.txt").write_text("\n \n\n".join(texts[half:]), encoding="utf-8")
    return folder


def _sentence(rng: Random, n: int) -> str:
    words = ["".join(rng.choices(SYLLABLES, k=2)) for _ in range(n)]
    return f"{' '.join(words).capitalize()}."


def write_groups(path: Path, groups: dict[str, dict[str, Any]] = GROUPS) -> Path:
    """Writes groups as YAML."""
    path.write_text(yaml.safe_dump(groups, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def recipe_of(**settings: Any) -> dict[str, Any]:
    """A recipe for the texts in `texts/` and the groups in `groups.yaml`."""
    return {
        "kind": "needles",
        "name": "hay",
        "tokenizer": "smollm2",
        "knowledge": {"reader": "texts", "path": "texts"},
        "groups": {"reader": "needles", "path": "groups.yaml"},
        "lengths": [128, 256],
        "depths": [0, 30, 100],
        "controls": 2,
        **settings,
    }
