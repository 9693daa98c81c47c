"""The back end that replays the outputs of a finished run."""

from pathlib import Path

from builders.errors import SetupError
from builders.typed import Open, typed_lines
from eval_harness.models.back_end import ModelOptions
from eval_harness.models.base import Model
from eval_harness.models.fake import replaying
from eval_harness.models.thoughts import named

_AGAIN = "write --model replay:RUN/results.jsonl"


class _Result(Open):
    prompt_sha256: str | None = None
    output: str | None = None


class Replay:
    """Outputs kept in `results.jsonl`, given again for the same prompts: scores a run anew without its model."""

    says = "the outputs of a run, given by its results.jsonl; no model is loaded"
    remote = True
    takes = frozenset(["tokenizer", "thinking_marks"])

    def load(self, name: str, options: ModelOptions) -> Model:
        """A model that answers the prompts of the run alone; SetupError if the file cannot be used."""
        return replaying({key: named(output, options.marks) for key, output in _outputs(Path(name)).items()})


def _outputs(path: Path) -> dict[str, str]:
    """The output for each prompt's SHA-256."""
    outputs: dict[str, str] = {}
    for row in typed_lines(path, _Result, _AGAIN):
        prompt, output = row.prompt_sha256, row.output
        if prompt and output is not None and outputs.setdefault(prompt, output) != output:
            raise SetupError(f"{path} holds two outputs for one prompt; give the results of one method")
    if not outputs:
        raise SetupError(f"{path} holds no output; {_AGAIN}")
    return outputs
