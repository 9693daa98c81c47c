"""Shows one training example of each task: the prompt, and the target token by token."""

from collections.abc import Iterator
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

from builders.errors import SetupError
from eval_harness.data.dataset import Dataset, Instance, names, scan
from eval_harness.models.local import Checkpoint
from eval_harness.models.template import load_config, load_tokenizer, position_limit
from eval_harness.train.encode import Encoded, Encoder, add_marks
from eval_harness.train.settings import Settings

if TYPE_CHECKING:
    from rich.text import Text

_SHOWN = 600  # characters shown at each end of the prompt
_BORDER = "│"  # between learned tokens


class Example(NamedTuple):
    """An instance with its prompt and its learned tokens, or the reason why it is skipped.

    Tokens that are parts of one character are merged in `learned`; `n_read` and `n_learned` count all tokens.
    """

    instance: Instance
    read: str
    learned: list[str]
    left_out: str | None = None
    n_read: int = 0
    n_learned: int = 0
    n_removed: int = 0


def examples(dataset: Dataset, base: Checkpoint, settings: Settings, tasks: list[str]) -> Iterator[Example]:
    """The first instance of each task, or of each of `tasks`; SetupError for a task without instances."""
    tokenizer = load_tokenizer(base.folder, base.name)
    if settings.needs_marks():
        add_marks(tokenizer)
    limit = min(settings.max_length, position_limit(load_config(base.folder, base.name), tokenizer))
    encoder = Encoder(tokenizer, base.name, settings.variant, limit, marks=settings.needs_marks(), seed=settings.seed)
    (config,) = settings.configs
    first: dict[str, str] = {}
    for id, task in names(dataset, config, settings.split):
        first.setdefault(task, id)
    if unknown := sorted(set(tasks) - set(first)):
        there = ", ".join(sorted(first))
        raise SetupError(f"{config}/{settings.split} has no task {', '.join(unknown)}; available: {there}")
    wanted = {id for task, id in first.items() if not tasks or task in tasks}
    for instance in scan(dataset, config, settings.split, wanted):
        yield _example(instance, encoder.encode(instance), tokenizer)


def page(example: Example, whole: bool = False) -> "Text":
    """An example to print: the prompt dimmed, without its middle unless `whole`, and each learned token in green."""
    from rich.text import Text

    head = (f"{example.instance.task}  {example.instance.id}\n", "bold")
    if example.left_out:
        return Text.assemble(head, (f"skipped: {example.left_out}\n", "red"))
    removed = f", {example.n_removed} passages dropped to fit" if example.n_removed else ""
    read = example.read if whole else _ends(example.read)
    styled = zip(example.learned, cycle(("green", "bold green")), strict=False)
    tokens = [part for token in styled for part in (token, (_BORDER, "dim"))][:-1]
    return Text.assemble(
        head,
        f"prompt (no loss): {example.n_read} tokens{removed}\n",
        (read.rstrip("\n"), "dim"),
        f"\ntarget (loss): {example.n_learned} tokens\n",
        *tokens,
        "\n",
    )


def _ends(text: str) -> str:
    """A text without its middle."""
    left_out = len(text) - 2 * _SHOWN
    return f"{text[:_SHOWN]} [... {left_out} characters ...] {text[-_SHOWN:]}" if left_out > 0 else text


def _example(instance: Instance, found: Encoded | str, tokenizer: Any) -> Example:
    if isinstance(found, str):
        return Example(instance, "", [], found)
    read, learned = found.ids[: found.n_prompt], found.ids[found.n_prompt :]
    return Example(
        instance, _text(tokenizer, read), _texts(tokenizer, learned), None, len(read), len(learned), found.n_removed
    )


def _text(tokenizer: Any, ids: list[int]) -> str:
    text: str = tokenizer.decode(ids, clean_up_tokenization_spaces=False)
    return text


def _texts(tokenizer: Any, ids: list[int]) -> list[str]:
    """The text of each token; tokens that are parts of one character are merged."""
    found, held = [], []
    for token in ids:
        held.append(token)
        text = _text(tokenizer, held)
        if not text.endswith("\N{REPLACEMENT CHARACTER}"):
            found.append(text)
            held = []
    return [*found, *([_text(tokenizer, held)] if held else [])]
