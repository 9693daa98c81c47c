"""The multi-step loop, driven by models that say what a test tells them."""

import pytest

from eval_harness.data.dataset import prompt_over
from eval_harness.methods.limits import Limits
from eval_harness.methods.multistep.queries import query_prompt
from eval_harness.methods.multistep.reading import Room
from eval_harness.methods.multistep.steps import MultiStep, Steps
from eval_harness.models.base import GenerationError
from eval_harness.models.fake import FakeModel
from eval_harness.models.session import Session
from tests.eval_harness.methods.multistep.stubs import (
    Found,
    Scripted,
    answers,
    article,
    asked,
    replayed,
    searcher,
)


def test_replayed_exactly() -> None:
    """Every prompt that is asked is known beforehand: another query, context or stop would be an unknown prompt."""
    question = asked(gold="ad")
    a, b, c, d = map(article, "abcd")

    def queries(*found: object) -> str:
        return query_prompt("vanilla", "Who?", found, (), 2).text  # type: ignore[arg-type]

    def answer(*found: object) -> str:
        return prompt_over(question.instance, found).text  # type: ignore[arg-type]

    model = replayed(
        {
            queries(): "first\nsecond",
            answer(a, b, c): "no",
            queries(a, b, c): "First!\nthird",
            answer(a, b, c, d): "yes",
        }
    )
    found = Found({"first": "ab", "second": "bc", "third": "cd"})
    (one,) = answers(searcher(found, rounds=2), model, question)
    assert found.asked == ["first", "second", "third"]
    assert (one.generation.text, one.kept) == ("yes", ["a", "b", "c", "d"])
    assert one.steps_log is not None
    kept = ("round", "queries", "n_repeated", "hits", "new", "recall", "answer", "stop")
    assert [{name: step[name] for name in kept if name in step} for step in one.steps_log] == [
        {
            "round": 1,
            "queries": ["first", "second"],
            "n_repeated": 0,
            "hits": [["a", "b"], ["b", "c"]],
            "new": ["a", "b", "c"],
            "recall": 1 / 2,
            "answer": "no",
        },
        {
            "round": 2,
            "queries": ["third"],
            "n_repeated": 1,
            "hits": [["c", "d"]],
            "new": ["d"],
            "recall": 1.0,
            "answer": "yes",
            "stop": "rounds",
        },
    ]


def test_no_article_stands_twice_in_the_context() -> None:
    """Step 1 finds [a, b], step 2 [b, c]; the context is [a, b, c], recall is over the union."""
    found = Found({"one": "ab", "two": "bc"})
    model = Scripted("one", "x", "two", "y")
    (one,) = answers(searcher(found, rounds=2, queries=1), model, asked(gold="abc"))
    assert one.kept == ["a", "b", "c"]
    assert model.prompts[-1] == prompt_over(asked().instance, [*map(article, "abc")]).text
    assert one.steps_log is not None
    assert [step["recall"] for step in one.steps_log] == pytest.approx([2 / 3, 1])
    assert len(one.steps_log) == 2


@pytest.mark.parametrize("style", ["vanilla", "plan"])
def test_a_model_that_repeats_its_query_ends(style: str) -> None:
    """The second round changes nothing, so the third would ask the same: 2 rounds of 9, 2 repeats, 1 search."""
    said: list[str] = []

    def say(prompt: str) -> str:
        said.append(prompt)
        return "same query" if "quer" in prompt else "answer"

    found = Found({"same query": "ab"})
    (one,) = answers(searcher(found, 9, 2, style), FakeModel(say), asked())
    assert one.steps_log is not None
    assert found.asked == ["same query"]
    assert [step["n_repeated"] for step in one.steps_log] == [0, 1]
    assert one.steps_log[-1]["stop"] == "unchanged"
    assert len(said) == 3  # two rounds of queries, one answer
    assert one.kept == ["a", "b"]


def test_a_model_whose_queries_are_all_new_ends_after_its_rounds() -> None:
    numbers = iter(range(100))
    model = FakeModel(lambda prompt: f"query {next(numbers)}" if "quer" in prompt else "answer")
    (one,) = answers(searcher(Found({}), 5, 1, "plan"), model, asked())
    assert one.steps_log is not None
    assert [step["queries"] for step in one.steps_log] == [[f"query {n}"] for n in range(5)]
    assert one.steps_log[-1]["stop"] == "rounds"
    assert one.kept == []


@pytest.mark.parametrize("output", ["", "...\n--\n", "<think>on and on"])
def test_a_model_that_writes_no_query_ends(output: str) -> None:
    """Nothing to look for finds nothing."""
    found = Found({})
    (one,) = answers(searcher(found, 4), FakeModel(lambda prompt: output), asked())
    assert one.steps_log is not None
    assert (found.asked, one.kept, len(one.steps_log)) == ([], [], 1)
    assert (one.steps_log[0]["stop"], one.steps_log[0]["recall"]) == ("unchanged", 0)


def test_planning_is_told_what_was_asked() -> None:
    model = Scripted("Queries: one", "x", "Hm. Queries:\ntwo", "y")
    answers(searcher(Found({"one": "a"}), 2, 1, "plan"), model, asked())
    assert "Queries asked so far" not in model.prompts[0]
    assert "Queries asked so far:\n- one\n" in model.prompts[2]


def test_answers_after_the_last_round_alone() -> None:
    model = Scripted("one", "two", "final")
    (one,) = answers(searcher(Found({"one": "a", "two": "b"}), 2, 1, each_round=False), model, asked())
    assert one.generation.text == "final"
    assert one.steps_log is not None
    assert [step.get("answer") for step in one.steps_log] == [None, "final"]


def test_a_round_that_finds_nothing_new_keeps_the_answer() -> None:
    """A planning prompt changes with the queries asked; the context does not, and is not answered from again."""
    model = Scripted("one", "first", "two", "three", "last")
    (one,) = answers(searcher(Found({"one": "a", "two": "a", "three": "b"}), 3, 1, "plan"), model, asked())
    assert one.steps_log is not None
    assert [step["answer"] for step in one.steps_log] == ["first", "first", "last"]
    assert [step["new"] for step in one.steps_log] == [["a"], [], ["b"]]


def test_questions_of_a_batch_do_not_mix() -> None:
    hits = {"x": "a", "y": "b"}
    asking = [asked("q1", "Is it x?", "a"), asked("q2", "Is it y?", "b")]

    def say(prompt: str) -> str:
        name = "x" if "Is it x?" in prompt else "y"
        return name if "quer" in prompt else f"answer {name}"

    together = answers(searcher(Found(hits), 3), FakeModel(say), *asking)
    alone = [answers(searcher(Found(hits), 3), FakeModel(say), one)[0] for one in asking]
    assert [one._replace(steps_s=None) for one in together] == [one._replace(steps_s=None) for one in alone]
    assert [one.kept for one in together] == [["a"], ["b"]]


def test_a_question_that_fails_leaves_the_others() -> None:
    def say(prompt: str) -> str:
        if "poison" in prompt:
            raise GenerationError("out of memory")
        return "x" if "quer" in prompt else "fine"

    method = searcher(Found({"x": "a"}), 2)
    bad, good = method.answer(Session(FakeModel(say)), [asked("q1", "poison?"), asked("q2")])
    assert isinstance(bad, GenerationError)
    assert not isinstance(good, GenerationError) and good.generation.text == "fine"


def test_prompts_fit_the_model_however_much_is_found() -> None:
    """Room for the question and 40 words of articles: what does not fit is counted in the log, never cut unseen."""
    hits = {"x": "abcdefgh"}
    base = len(query_prompt("vanilla", "Who?", (), (), 1).text.split())
    room = Room(lambda text: len(text.split()), base + 40 + 8, Limits({"qa": 8}))
    method = MultiStep(Steps(2, 1, 8, "vanilla", 8), Found(hits), room)  # type: ignore[arg-type]
    model = Scripted("x", "one", "x", "two")
    (one,) = answers(method, model, asked())
    assert max(len(prompt.split()) for prompt in model.prompts) <= base + 40
    assert one.steps_log is not None and one.kept == list("abcdefgh")
    shown = one.steps_log[1]["shown"]
    assert shown["n_articles"] + shown["n_left_out"] == 8 and shown["n_left_out"] > 0
