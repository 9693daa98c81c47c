"""A prompt is rendered and tokenised once, and the prompts of a config are not held in memory."""

import tracemalloc
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from builders.prompts import Prompt
from eval_harness.data import dataset as reading
from eval_harness.methods.probed import Probed
from eval_harness.models.base import Generation
from eval_harness.models.fake import FakeModel
from eval_harness.models.hf import HfModel
from eval_harness.models.template import Template
from eval_harness.models.tokenised import Tokenised
from eval_harness.probing.heads import Rates, heads_by_task
from eval_harness.run.prompts import Prompts
from tests.eval_harness.conftest import ROWS, instance
from tests.eval_harness.running import EVERY, plan_of, reader, results_of

SHARED = [
    instance(f"nq-{n}", "nq", f"capital of {n}", ["Lima"], [0], ["Lima is the capital.", "Snow melts."])
    | {"context_id": "one"}
    for n in (7, 8, 9)
]


class Counting(FakeModel):
    """Makes tokens of words; counts how often it made those of each text, and takes no text that comes without."""

    def __init__(self) -> None:
        super().__init__(reader)
        self.made: Counter[str] = Counter()

    def count(self, prompt: str) -> int:
        raise AssertionError("counted what was tokenised")

    def tokenised(self, prompt: str) -> Tokenised:
        self.made[str(prompt)] += 1
        return Tokenised.of(prompt, [*range(len(prompt.split()))], None, self)

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        assert all(isinstance(one, Tokenised) and one.n_tokens == len(one.split()) for one in prompts)
        return [Generation(reader(one), len(one.split()), 1, truncated=False) for one in prompts]

    def prefill(self, prompts: Sequence[str]) -> None:
        assert all(isinstance(one, Tokenised) for one in prompts)

    def generate_after(self, prefix: object, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        raise AssertionError("nothing was prefilled")


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every prompt that is rendered."""
    found: list[str] = []
    render = reading.render

    def keeping(*arguments: Any) -> Prompt:
        prompt = render(*arguments)
        found.append(prompt.text)
        return prompt

    monkeypatch.setattr(reading, "render", keeping)
    return found


def test_a_row_renders_its_prompt_once_and_each_prompt_is_tokenised_once(
    make_dataset: Any, rendered: list[str], tmp_path: Path
) -> None:
    model = Counting()
    plan = plan_of(make_dataset(c1k_p0=[*ROWS, *SHARED]), methods=(*EVERY, "vanilla_rag+cite"), batch_size=2)
    rows = results_of(plan, model, tmp_path / "run")  # type: ignore[arg-type]
    assert len(rows) == len(rendered) == 4 * 7
    assert set(model.made) == set(rendered)
    assert set(model.made.values()) == {1}
    assert rows["nq-1", "1k_p0", "vanilla_rag"].answer == "Jane Austen"


def test_probing_tokenises_the_prompt_once_and_then_what_it_keeps(
    chat_folder: Path, dataset_folder: Path, rendered: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = HfModel(chat_folder, "tiny", "r", "float32")
    read: list[str] = []

    def watched(name: str) -> None:
        read_by = getattr(Template, name)

        def counting(self: Template, text: str, **options: Any) -> Any:
            read.append(text)
            return read_by(self, text, **options)

        monkeypatch.setattr(Template, name, counting)

    watched("_read")
    watched("_ids")
    made_from = {"model": model.describe(), "position": "question", "pooling": "sum", "calibrated": False}
    probed = Probed(heads_by_task([0, 1], {"nq": Rates(1, {1: [[0.1] * 4, [0.2] * 4]})}, made_from))
    read.clear()
    plan = plan_of(dataset_folder, tasks=("nq",), methods=("rap@1x1",), probed=probed, shares_prefixes=False)
    rows = results_of(plan, model, tmp_path / "run")  # type: ignore[arg-type]
    assert {row.status for row in rows.values()} <= {"ok", "unparsed"}
    assert len(rendered) == 2 * len(rows)  # the context, and the passage that the head looks at
    assert sum("ID: 2\n" in text for text in read) == sum("ID: 2\n" in text for text in rendered) == len(rows)


def test_a_prompt_comes_back_as_it_was(chat_folder: Path, tmp_path: Path) -> None:
    model = HfModel(chat_folder, "tiny", "r", "float32")
    store = Prompts(model, tmp_path)
    texts = ["one <|im_end|> two", "é\u2028 東京 𝔘", ""]
    for n, text in enumerate(texts):
        assert store.add(str(n), Prompt(text, [(0, n)])) == len(model.encode(text))
    for n, text in enumerate(texts):
        found = store.get(str(n))
        assert (str(found.text), found.spans) == (text, [(0, n)])
        assert isinstance(found.text, Tokenised)
        assert found.text.ids == model.encode(text)
        assert found.text.places == model.template.places(text)
    assert [*tmp_path.iterdir()] == []


def test_tokens_of_another_template_are_not_taken(chat_folder: Path, base_folder: Path) -> None:
    chat, base = (HfModel(folder, "tiny", "r", "float32") for folder in (chat_folder, base_folder))
    assert base.encode(chat.tokenised("Emma")) == base.encode("Emma") != chat.encode("Emma")


def test_prompts_are_not_held_in_memory(tmp_path: Path) -> None:
    class Forgetful(Counting):
        def tokenised(self, prompt: str) -> Tokenised:
            return Tokenised.of(prompt, [1] * 100_000, None, self)

    store = Prompts(Forgetful(), tmp_path)
    tracemalloc.start()
    for n in range(40):
        store.add(str(n), Prompt(f"{n} " * 100_000, []))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 400_000  # one of them; all their tokens take 16 MB, all their texts 12 MB


def test_a_config_is_forgotten_when_the_next_begins(dataset_folder: Path, tmp_path: Path) -> None:
    model = Counting()
    plan = plan_of(dataset_folder, configs=("1k_p0", "1k_p75"), methods=("closed_book",))
    assert len(results_of(plan, model, tmp_path / "run")) == 8  # type: ignore[arg-type]
    assert set(model.made.values()) == {2}
