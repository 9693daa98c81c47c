"""A model as judge: whether an answer agrees with the reference answer."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from eval_harness.models.base import Generation, GenerationError, Model
from eval_harness.models.session import Session
from eval_harness.models.thoughts import without_thoughts
from eval_harness.parsing.answers import answers_in
from eval_harness.protocols.frames.questions import Asked, Questions
from eval_harness.run.results import Results, Row, read_rows

FOLDER = "judged"
SCORE = "judged"  # 1 if the verdict is CORRECT
PROMPT = """\
Grade an answer to a question by the reference answer, which is right.
Question: {question}
Reference answer: {reference}
Answer to grade: {answer}
The answer is correct where it gives all that the reference answer gives and contradicts none of it. Other words,
another way to write a number, a date or a name, and more detail do no harm. It is incorrect where something is missing
or different, where it names several possibilities, and where it does not answer. What you know yourself does not count.
Reply with one word, CORRECT or INCORRECT.
Verdict:"""
DIGEST = sha256(PROMPT.encode()).hexdigest()

_VERDICT = re.compile(r"[\W_]*(?:verdict\s*:[\W_]*)?(?P<not>in)?correct[\W_]*", re.IGNORECASE)


def judge_prompt(asked: Asked, answer: str) -> str:
    """The prompt for a verdict on an answer; several reference answers are alternatives."""
    return PROMPT.format(question=asked.query, reference=" / ".join(asked.answers), answer=answer)


def verdict_in(output: str) -> bool | None:
    """Whether an output is CORRECT; None if it is neither of the two words."""
    answers = answers_in(without_thoughts(output) or "")
    found = _VERDICT.fullmatch(answers[0]) if answers else None
    return None if found is None else not found["not"]


def judge_record(run: dict[str, Any], model: Model, max_new_tokens: int) -> dict[str, Any]:
    """What verdicts depend on: the judge, its prompt, and the judged run."""
    return {
        "judge": model.describe(),
        "prompt_sha256": DIGEST,
        "max_new_tokens": max_new_tokens,
        "decoding": "greedy",
        "run": {name: run.get(name) for name in ("dataset", "model", "configs", "methods")},
    }


def to_judge(folder: Path) -> list[Row]:
    """The results with an answer and a reference answer; those without an answer are wrong and need no verdict."""
    return [row for row in read_rows(folder) if row.status == "ok" and row.answer is not None]


def judge(
    rows: Sequence[Row],
    questions: Questions,
    model: Model,
    results: Results,
    max_new_tokens: int,
    batch_size: int,
    advance: Callable[[int], None],
) -> None:
    """Adds a verdict on each result that lacks one; equal prompts are run once."""
    session = Session(model)
    waiting: dict[str, list[Row]] = {}
    for row in rows:
        if row.key not in results.done:
            waiting.setdefault(judge_prompt(questions.asked[row.id], row.answer or ""), []).append(row)
    advance(len(rows) - sum(map(len, waiting.values())))
    prompts = list(waiting)
    for start in range(0, len(prompts), batch_size):
        batch = prompts[start : start + batch_size]
        fitting = [prompt for prompt in batch if model.count(prompt) + max_new_tokens <= model.max_positions]
        outputs = dict(zip(fitting, session.generate(fitting, max_new_tokens) if fitting else [], strict=True))
        for prompt in batch:
            found = [_verdict(row, prompt, outputs.get(prompt), model) for row in waiting[prompt]]
            results.append(found)
            advance(len(found))
    results.arrange([row.key for row in rows])


def _verdict(row: Row, prompt: str, output: Generation | GenerationError | None, model: Model) -> Row:
    """The judge's result on a result of the run."""
    task = (row.id, row.task, row.kind, row.scorer)
    made = Row(
        *(*task, row.config, row.split, "judge", row.method, model.name, "overlength", {}),
        prompt_sha256=sha256(prompt.encode()).hexdigest(),
        n_prompt_tokens=model.count(prompt),
        question_id=row.question_id,
        depth=row.depth,
    )
    if output is None:
        return made
    if isinstance(output, GenerationError):
        return replace(made, status="error", error=str(output))
    verdict = verdict_in(output.text)
    return replace(
        made,
        status="unparsed" if verdict is None else "ok",
        scores={} if verdict is None else {SCORE: float(verdict)},
        n_prompt_tokens=output.n_prompt_tokens,
        n_new_tokens=output.n_new_tokens,
        output=output.text,
        answer=None if verdict is None else "correct" if verdict else "incorrect",
        truncated=output.truncated,
    )


def judgements(folder: Path) -> dict[str, list[Row]]:
    """The verdicts in a run folder by the name of the judge's folder."""
    found = sorted((folder / FOLDER).glob("*/results.jsonl"))
    return {path.parent.name: read_rows(path.parent) for path in found}
