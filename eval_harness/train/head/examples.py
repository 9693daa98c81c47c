"""Samples with the spans of their question and passages, and their batches."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from eval_harness.data.dataset import Instance, prompt_over
from eval_harness.methods.head.places import places_of
from eval_harness.train.encode import Encoded, Encoder, Reason
from eval_harness.train.head.passes import Example
from eval_harness.train.samples import Counts, Samples, write_samples

_SCHEMA = pa.schema(
    [
        ("question", pa.list_(pa.int32())),
        ("starts", pa.list_(pa.int32())),  # of passages
        ("ends", pa.list_(pa.int32())),
        ("gold", pa.list_(pa.int32())),
    ]
)


class Drawn(NamedTuple):
    """An example and the number of its draw, which determines its noise."""

    draw: int
    example: Example


def write_examples(
    path: Path, encoder: Encoder, instances: Iterable[Instance], advance: Callable[[], object] = lambda: None
) -> Counts:
    """Like `write_samples`, with the spans in a second file next to the first."""
    with pa.OSFile(str(_places(path)), "wb") as sink, pa.ipc.new_file(sink, _SCHEMA) as writer:
        placing: Any = _Placing(encoder, writer)
        return write_samples(path, placing, instances, advance)


class Examples:
    """The examples in a file, read on demand."""

    def __init__(self, path: Path) -> None:
        self._samples = Samples(path)
        self._places = pa.ipc.open_file(pa.memory_map(str(_places(path)))).read_all()

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, at: int) -> Example:
        sample = self._samples[at]
        (row,) = self._places.slice(at, 1).to_pylist()
        passages = [*zip(row["starts"], row["ends"], strict=True)]
        first, end = row["question"]
        return Example(sample.ids, sample.n_prompt, (first, end), passages, row["gold"])


class Draws:
    """Examples with the numbers of their draws, which are their positions."""

    def __init__(self, examples: Any) -> None:
        self._examples = examples

    def __len__(self) -> int:
        return len(self._examples)

    def __getitem__(self, at: int) -> Drawn:
        return Drawn(at, self._examples[at])


def batch_of(drawn: Sequence[Drawn]) -> dict[str, Any]:
    """The single example of a batch as tensors, named like the joint module's arguments."""
    import torch

    ((draw, one),) = drawn
    return {
        "input_ids": torch.tensor([one.ids]),
        "labels": torch.tensor([one.ids[one.n_prompt :]]),
        "question": torch.tensor(one.question),
        "passages": torch.tensor(one.passages),
        "gold": torch.tensor(one.gold),
        "draw": torch.tensor(draw),
    }


class _Placing:
    """An encoder that also records the spans of question and passages."""

    def __init__(self, encoder: Encoder, writer: Any) -> None:
        self._encoder = encoder
        self._writer = writer

    def encode(self, instance: Instance) -> Encoded | Reason:
        """The encoded instance."""
        found = self._encoder.encode(instance)
        if isinstance(found, Encoded):
            self._writer.write_table(pa.Table.from_pylist([self._row(instance, found)], _SCHEMA))
        return found

    def _row(self, instance: Instance, found: Encoded) -> dict[str, Any]:
        passages = self._encoder.shown(instance, found.n_removed)
        question, spans = places_of(self._encoder.template, prompt_over(instance, passages), instance.query)
        gold = set(instance.gold_pids)
        return {
            "question": question,
            "starts": [start for start, _ in spans],
            "ends": [end for _, end in spans],
            "gold": [place for place, passage in enumerate(passages) if passage.pid in gold],
        }


def _places(path: Path) -> Path:
    return path.with_suffix(".places.arrow")
