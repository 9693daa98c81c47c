"""Which models there are, what each is asked, and the commands that make them."""

from pathlib import Path

import pytest

from builders.errors import SetupError
from eval_harness.experiments import table4
from eval_harness.experiments.commands import Place, commands
from eval_harness.experiments.models import CCI, DA, RTA, UNTUNED, Tuned
from eval_harness.experiments.registry import EXPERIMENTS
from eval_harness.experiments.run import launcher, needed
from eval_harness.experiments.scale import Scale, options, scale_of

TINY, FULL = scale_of("tiny", {}), scale_of("full", {})


def place(scale: Scale = TINY) -> Place:
    """An empty place."""
    return Place(scale, Path("data"), "train", Path("out"))


def names(found: str) -> list[str]:
    """The models of an experiment at full scale, those that answer before those that are looked at."""
    experiment = EXPERIMENTS[found]
    return [model.name for of in (experiment.answering, experiment.probed) for model in dict.fromkeys(of(FULL))]


def test_the_full_scale_is_the_papers() -> None:
    assert FULL.taken(1) == "nq=7500,hotpotqa=7500,fever=5000,wow=5000"  # section 5.1
    for share, total in ((0.4, 10_000), (0.6, 15_000), (1, 25_000)):  # section 6.1
        assert share in FULL.shares
        assert sum(int(part.partition("=")[2]) for part in FULL.taken(share).split(",")) == total
    given = {"lr": 1e-5, "accumulate": 4, "steps": 10_000, "rope-base": 1e6, "max-length": 32_768}  # appendix C.1
    assert given.items() <= FULL.train.items()
    assert FULL.probe["limit"] == 100 and FULL.answer["limit"] == 100


def test_the_models_of_each_experiment() -> None:
    heads = ["rethead-gen-ret", "rethead-gen", "rethead-ret"]
    assert names("table4") == ["untuned", "da", "rta", "cci", *heads]
    assert names("table5") == ["rta", "cci", *heads, "untuned", "da"]
    assert names("table9") == ["rta", "rta-no-marks", "cci", "cci-no-marks"]
    assert names("figure5") == ["da-40", "da-60", "da", "rta-40", "rta-60", "rta", "cci-40", "cci-60", "cci"]
    assert names("figure6") == ["untuned", "da", "rta", "cci"]


def test_what_a_model_is_asked_does_not_depend_on_the_experiment() -> None:
    assert UNTUNED.methods(TINY) == ["closed_book", "vanilla_rag", "oracle_rag", "rap@4x2"]
    assert RTA.methods(TINY) == ["sft_rta", "sft_rta+block_context", "sft_rta+rap@4x2"]
    assert RTA.methods(FULL) == ["sft_rta", "sft_rta+block_context", "sft_rta+rap"] and RTA.preset(FULL) == "rta-icr2"
    assert CCI.methods(TINY) == ["sft_cci"] and CCI.rap(TINY) is None
    assert DA._replace(share=0.4).methods(TINY) == ["sft_da"]
    assert RTA._replace(marks=False).methods(FULL) == ["sft_rta"]
    assert Tuned("da", loss="gen").methods(FULL) == ["rethead@4+reprompt", "rethead@4"]
    assert Tuned(base="Qwen/Qwen2-7B@main").methods(FULL) == ["closed_book", "vanilla_rag", "oracle_rag"]


def test_the_head_answers_from_a_new_prompt_over_what_it_chose() -> None:
    """Section 4.3: what is chosen is used to prompt the model; going on in one pass has a row of its own."""
    methods = {asked.name: asked.method for asked in table4.rows(TINY) if asked.model.loss}
    assert methods == {"RetHead, gen+ret": "rethead@2+reprompt", "RetHead, gen+ret, in one pass": "rethead@2"}


def test_latency_is_taken_of_each_method_alone() -> None:
    train, *_, direct, probed = needed(place(), [EXPERIMENTS["table7"]])[1:]
    assert train.arguments[:2] == ["train", "sft"]
    for command, method in ((direct, "sft_da"), (probed, "sft_da+rap@4x2")):
        said = " ".join(command.arguments)
        assert said.count("--method") == 1 and f"--method {method} " in said
        assert "--limit 25 --batch-size 1 --no-prefix-reuse --warm-up --out" in said


def test_figure_1_asks_every_model_on_every_ratio() -> None:
    other = TINY.model_copy(update={"models": ["org/Other_1B"]})
    _, *found = needed(place(other), [EXPERIMENTS["figure1"]])
    assert [(one.arguments[-1], one.arguments.count("--config")) for one in found] == [
        ("out/runs/untuned-ratios", 5),
        ("out/runs/org-other-1b-ratios", 5),
    ]
    others = ["qwen-qwen2-1.5b-instruct", "qwen-qwen2-7b-instruct"]
    others += ["microsoft-phi-3-small-128k-instruct", "meta-llama-meta-llama-3-8b-instruct"]
    assert names("table3") == ["untuned", *others]


def test_a_model_is_trained_before_it_is_looked_at_and_looked_at_before_it_answers() -> None:
    found = list(commands(place(), [RTA], [RTA]))
    assert [command.arguments[0] for command in found] == ["build", "train", "probe", "eval"]
    build, train, probe, answer = (" ".join(command.arguments) for command in found)
    assert build.startswith("build kilt_mini --set lengths=[1k]")
    assert train == (
        "train sft data --config 1k_p100 --model smollm2 --variant rta --samples 25 --split train "
        "--lora --lr 0.0005 --accumulate 1 --eval-every 100 --eval-n 5 --out out/models/rta"
    )
    assert probe == (
        "probe data --config 1k_p100 --model out/models/rta --position retrieval --limit 50 --m 1,2,4 "
        "--out out/heads/rta.json"
    )
    assert answer == (
        "eval data --config 1k_p100 --model out/models/rta --method sft_rta --method sft_rta+block_context "
        "--method sft_rta+rap@4x2 --heads out/heads/rta.json --limit 100 --batch-size 8 --out out/runs/rta"
    )


def test_what_needs_no_heads_is_not_looked_at() -> None:
    assert [command.arguments[0] for command in commands(place(), [CCI], [])] == ["build", "train", "eval"]
    looked = list(commands(place(), [], [UNTUNED]))
    assert [command.arguments[0] for command in looked] == ["build", "probe"]


def test_experiments_share_what_they_need() -> None:
    alone = needed(place(), [EXPERIMENTS["table4"]])
    assert needed(place(), [EXPERIMENTS["table4"], EXPERIMENTS["table5"]]) == alone
    both = needed(place(), [EXPERIMENTS["table4"], EXPERIMENTS["figure6"]])
    assert {*map(str, alone)} < {*map(str, both)} and len(both) == len(alone) + 1  # heads of cci


def test_an_experiment_on_data_of_its_own_does_not_build_the_others() -> None:
    found = [command.arguments[:2] for command in needed(place(FULL), [EXPERIMENTS["oncu_main"]])]
    recipes = ["controlled", "given_hotpotqa", "given_twowiki"]
    assert found == [words for name in recipes for words in (["build", name], ["oncu", f"out/data/{name}"])]
    assert needed(place(), [EXPERIMENTS["frames_main"]])[0].arguments[:2] == ["build", "kilt_mini"]


def test_only_trainings_are_launched_by_accelerate() -> None:
    train, answer = list(commands(place(FULL), [CCI], []))[1:]
    assert launcher(place(FULL), train)[0] == "accelerate.commands.launch"
    assert launcher(place(FULL), train)[2].endswith("fsdp_8.yaml")
    assert launcher(place(FULL), answer) == launcher(place(), train) == ["icr2_cli"]


def test_a_scale_is_changed_value_by_value() -> None:
    changed = scale_of("tiny", {"model": "other", "train": {"steps": 2}, "answer": {"limit": 1}})
    assert (changed.model, changed.configs) == ("other", TINY.configs)
    assert options(changed.train)[-2:] == ["--steps", "2"] and options(changed.answer)[:2] == ["--limit", "1"]
    assert options({"a": True, "b": 1e-5}) == ["--a", "--b", "1e-05"]
    with pytest.raises(SetupError, match="no scale huge; available: full, tiny"):
        scale_of("huge", {})
