"""Batches: what is padded, what is learned, and that a batch gives what its rows give."""

from pathlib import Path
from typing import Any

import pytest

from eval_harness.train.collate import IGNORED, Collator, collator_for
from eval_harness.train.encode import Encoded

PAD = EOS = 1
SHORT, LONG = Encoded("a", "nq", [7, 8, 9, EOS], 2), Encoded("b", "nq", [5, 6, 7, 8, 9, 4, EOS], 6)


def test_the_end_is_learned_where_padding_is_the_same_token() -> None:
    """Pad = eos; the end's label is kept, those of pads are not."""
    batch = Collator(PAD, tail=False)([SHORT, LONG])
    assert batch["input_ids"].tolist() == [[1, 1, 1, 7, 8, 9, 1], [5, 6, 7, 8, 9, 4, 1]]
    assert batch["labels"].tolist() == [[IGNORED] * 5 + [9, EOS], [IGNORED] * 6 + [EOS]]
    assert batch["attention_mask"].tolist() == [[0, 0, 0, 1, 1, 1, 1], [1] * 7]
    assert batch["position_ids"].tolist() == [[0, 0, 0, 0, 1, 2, 3], [0, 1, 2, 3, 4, 5, 6]]


def test_the_tail_holds_all_that_is_learned_and_what_predicts_it() -> None:
    batch = Collator(PAD)([SHORT, LONG])
    assert batch["logits_to_keep"] == 3
    assert batch["labels"].tolist() == [[IGNORED, 9, EOS], [IGNORED, IGNORED, EOS]]


def test_a_batch_with_nothing_to_learn_is_refused() -> None:
    """No batch is ever all-masked."""
    with pytest.raises(ValueError, match="no tokens to learn in c"):
        Collator(PAD)([SHORT, Encoded("c", "nq", [7, 8], 2)])


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_a_batch_gives_the_losses_of_its_rows(kind: str, tmp_path: Path) -> None:
    """GPT-2 counts positions, Llama turns by them."""
    import torch
    from transformers import AutoModelForCausalLM

    from tests.eval_harness.conftest import save_model

    network = AutoModelForCausalLM.from_pretrained(save_model(tmp_path / "m", kind=kind)).eval()
    assert collator_for(network, PAD) == Collator(PAD)

    def summed(examples: list[Encoded], tail: bool) -> Any:
        return network(**Collator(PAD, tail)(examples), num_items_in_batch=1).loss

    with torch.no_grad():
        alone = summed([SHORT], True) + summed([LONG], True)
        plain = sum(whole(network, one) for one in (SHORT, LONG))
        for tail in (True, False):
            torch.testing.assert_close(summed([SHORT, LONG], tail), alone)
    torch.testing.assert_close(alone, plain)


def whole(network: Any, one: Encoded) -> Any:
    """Minus the log probabilities of what is learned, from all logits of an unpadded row."""
    import torch

    logs = network(input_ids=torch.tensor([one.ids])).logits[0].log_softmax(-1)
    return -sum(logs[at - 1, one.ids[at]] for at in range(one.n_prompt, len(one.ids)))


def test_a_model_is_given_no_more_than_it_takes() -> None:
    class Alone:
        def forward(self, input_ids: Any, attention_mask: Any, labels: Any) -> None: ...

    collator = collator_for(Alone(), None)
    assert {*collator([SHORT])} == {"input_ids", "attention_mask", "labels"}
