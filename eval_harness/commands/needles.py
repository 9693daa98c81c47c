"""`icr2 needles`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builders.device import DType
from builders.display import say
from builders.options import DatasetFolder, grouped, option
from eval_harness.commands import options
from eval_harness.commands.options import numbers
from eval_harness.conditions.ranking import ENCODER
from eval_harness.data.dataset import Dataset, open_dataset
from eval_harness.protocols.base import Protocol
from eval_harness.protocols.needles.expansion import TERMS

if TYPE_CHECKING:
    from rich.progress import Progress

    from eval_harness.protocols.base import Reported
    from eval_harness.protocols.needles.encoding import Embedder
    from eval_harness.protocols.needles.haystacks import Haystack
    from eval_harness.run.facts import Configs

_NOT_PRINTED = (
    "questions",
    "similarity",
    "difference",
    "effect size",
)  # only in the report: the terminal is too narrow
_LIBRARIES = ("icr2", "sentence-transformers", "torch", "transformers")


def register(app: typer.Typer) -> None:
    """Mounts the command on `app`."""
    app.command(help=PROTOCOL.says)(needles)


@dataclass(frozen=True)
class Encoding:
    """The encoder and its settings."""

    encoder: Annotated[str, option("encoder")] = ENCODER
    query_prompt: Annotated[str | None, typer.Option(help="Prefix for questions. Default: the model's own.")] = None
    passage_prompt: Annotated[str | None, typer.Option(help="Prefix for haystacks. Default: the model's own.")] = None
    dtype: Annotated[DType, option("dtype", "Use float32 to resolve small differences.")] = "float32"
    max_batch_tokens: Annotated[int | None, option("max_batch_tokens", "Default: 8192; on a GPU 65536.", min=1)] = None

    def load(self) -> "Embedder":
        """The loaded encoder."""
        from eval_harness.protocols.needles.encoding import load_embedder

        return load_embedder(
            self.encoder,
            self.dtype,
            {"query": self.query_prompt, "passage": self.passage_prompt},
            self.max_batch_tokens,
        )


@dataclass(frozen=True)
class Expansion:
    """Query expansion: the terms added to questions."""

    expand: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|MODEL",
            help="Expansion terms for each question: a JSON Lines file, or a model that writes them.",
        ),
    ] = None
    terms: Annotated[str, typer.Option(metavar="N,N", help="Numbers of terms to add.")] = ",".join(map(str, TERMS))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of terms to add; empty without expansion."""
        return tuple(numbers("--terms", self.terms)) if self.expand else ()


@grouped
def needles(
    *,
    folder: DatasetFolder,
    how: Encoding,
    config: options.AnyConfigs = None,
    split: options.Split = "test",
    limit: Annotated[
        int | None, option("limit", "A question counts as one instance, with all its haystacks.", min=1)
    ] = None,
    expansion: Expansion,
    run: options.Run,
) -> None:
    """Runs the protocol."""
    from eval_harness.protocols.needles.haystacks import needle_configs, read_haystacks

    dataset = open_dataset(folder)
    configs = needle_configs(folder, config or ())
    sizes = expansion.sizes
    haystacks = read_haystacks(folder, configs, split, limit)
    if run.dry_run:
        _show_plan(haystacks, configs, len(sizes))
        return
    selection = {"configs": {name: facts._asdict() for name, facts in configs.items()}, "split": split, "limit": limit}
    out = run.out or _default_folder(dataset, how.encoder)
    _measure(dataset, haystacks, selection, how.load(), (expansion.expand, sizes), out)
    _report(out)


def _measure(
    dataset: Dataset,
    haystacks: "Sequence[Haystack]",
    selection: dict[str, Any],
    embedder: "Embedder",
    expansion: tuple[str | None, tuple[int, ...]],
    run: Path,
) -> None:
    from rich.progress import Progress

    from builders.display import Terminal
    from eval_harness.protocols.needles.encoding import Vectors
    from eval_harness.protocols.needles.similarities import measure, write_lines
    from eval_harness.run.results import open_record

    expand, sizes = expansion
    record = {
        "protocol": "needles",
        "dataset": dataset.describe(),
        **selection,
        "encoder": embedder.describe(),
        "expand": _source(expand, sizes),
        "versions": {name: version(name) for name in _LIBRARIES},
    }
    open_record(run, record)
    questions = list(dict.fromkeys(haystack.question for haystack in haystacks))
    with Progress(console=Terminal(stderr=True)) as progress:
        found = _terms(expand, sizes, questions, run, progress)
        lines = measure(haystacks, embedder, Vectors(run / "vectors", embedder), found, sizes, progress)
    write_lines(lines, run)


def _source(expand: str | None, sizes: tuple[int, ...]) -> dict[str, Any] | None:
    """The source of the terms: a file's name and digest, or a model's name."""
    if expand is None:
        return None
    path = Path(expand)
    digest = sha256(path.read_bytes()).hexdigest() if path.is_file() else None
    return {"from": path.name if digest else expand, "sha256": digest, "terms": list(sizes)}


def _terms(
    expand: str | None, sizes: tuple[int, ...], questions: list[str], run: Path, progress: "Progress"
) -> dict[str, list[str]]:
    from eval_harness.protocols.needles.expansion import read_terms, terms_for, written_terms

    if expand is None:
        return {}
    path = Path(expand)
    if path.is_file():
        return terms_for(questions, read_terms(path), path)
    bar = progress.add_task("terms", total=len(questions))
    return written_terms(questions, _writer(expand), max(sizes), run / "terms.jsonl", lambda: progress.advance(bar))


def _writer(name: str) -> Any:
    """The model that writes terms."""
    from eval_harness.models import load_model

    return load_model(name)


def _report(run: Path) -> None:
    from builders.display import Terminal
    from eval_harness.protocols.needles.reported import document
    from eval_harness.report.document import write_document
    from eval_harness.report.terminal import shown

    found, study, instances = document(run)
    written = write_document(found, study, instances, run / "report")
    console = Terminal(width=max(120, get_terminal_size().columns))
    console.print(shown(found.sections[0]._replace(title=found.title), _NOT_PRINTED))
    for path in written:
        say(f"wrote {path}")
    say(f"results: {run}")


def _show_plan(haystacks: "Sequence[Haystack]", configs: "Configs", n_sizes: int) -> None:
    from rich.table import Table

    from builders.display import Terminal

    shown = Table("config", "questions", "haystacks", "controls", "unique texts", "tokens, about", title="to encode")
    for config, facts in configs.items():
        mine = [haystack for haystack in haystacks if haystack.config == config]
        texts = {haystack.text for haystack in mine}
        controls = sum(haystack.planted is None for haystack in mine)
        questions = {haystack.question for haystack in mine}
        numbers = (len(questions), len(mine) - controls, controls, len(texts), len(texts) * (facts.tokens or 0))
        shown.add_row(config, *(f"{number:,}" for number in numbers))
    Terminal().print(shown)
    questions = {haystack.question for haystack in haystacks}
    say(f"{len(questions) * (1 + n_sizes)} questions, with and without terms")


def _default_folder(dataset: Dataset, encoder: str) -> Path:
    name = f"needles_{dataset.name}-{dataset.version}_{encoder}"
    return Path("runs") / re.sub(r"[^\w.+@-]+", "-", name)[:120]


def _document(run: Path, dataset: Path | None) -> "Reported":
    from eval_harness.protocols.needles import document

    return document(run, dataset)


PROTOCOL = Protocol(
    "Measure whether an embedding model finds needles in long texts. Resumable: rerun to resume.",
    register,
    _document,
)
