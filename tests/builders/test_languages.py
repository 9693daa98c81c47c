"""Where the published scores cannot work: by hand from what they do to a script."""

import pytest

from builders.languages import needs_strict
from builders.tasks import KindName
from eval_harness.scoring.measures.rouge_l import score


@pytest.mark.parametrize(
    ("language", "kind", "strict"),
    [
        ("en", "qa", False),
        ("en", "dialogue", False),
        ("fr", "dialogue", False),
        ("zh", "qa", True),
        ("zh-Hans", "dialogue", True),
        ("th", "set", True),
        ("ja", "needle", True),
        ("ja", "fact", False),  # labels are read in the task's own spelling
        ("ru", "qa", False),  # has spaces
        ("ru", "dialogue", True),  # no letter of a-z
        ("ko", "dialogue", True),
        ("sr-Latn", "dialogue", False),
        ("sr_Cyrl", "dialogue", True),
        ("UK", "dialogue", True),
    ],
)
def test_by_language_and_kind(language: str, kind: KindName, strict: bool) -> None:
    assert needs_strict(language, kind) is strict


@pytest.mark.parametrize(
    "reply", ["ปารีสเป็นเมืองหลวง", "巴黎是首都", "パリは首都です", "Париж – столица", "파리는 수도이다"]
)
def test_rouge_as_published_is_0_for_the_answer_itself(reply: str) -> None:
    assert score(reply, [reply]) == {"rouge_l": 0, "rouge_l_strict": 1}
