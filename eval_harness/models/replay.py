"""The back end that replays the outputs of a finished run."""

import json
from pathlib import Path

from builders.errors import SetupError
from eval_harness.models.back_end import ModelOptions
from eval_harness.models.base import Model
from eval_harness.models.fake import replaying
from eval_harness.models.thoughts import named


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
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise SetupError(f"{path} cannot be read ({error}); write --model replay:RUN/results.jsonl") from None
    outputs: dict[str, str] = {}
    for row in rows:
        prompt, output = row.get("prompt_sha256"), row.get("output")
        if prompt and output is not None and outputs.setdefault(prompt, output) != output:
            raise SetupError(f"{path} holds two outputs for one prompt; give the results of one method")
    if not outputs:
        raise SetupError(f"{path} holds no output; write --model replay:RUN/results.jsonl")
    return outputs
