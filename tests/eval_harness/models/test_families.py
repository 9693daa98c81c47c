"""Model families: what is understood of a checkpoint of each, and that it reads, writes and stops as it should."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from builders.errors import SetupError
from eval_harness.commands.models import register, understood
from eval_harness.commands.options import Prompted
from eval_harness.models.families import FAMILIES, Family, table
from eval_harness.models.hf import HfModel
from eval_harness.models.local import find_checkpoint
from eval_harness.parsing.answers import Parsed, parse
from tests.eval_harness.conftest import save_tokenizer
from tests.eval_harness.models.small_families import SMALLS, Small, save_small
from tests.eval_harness.specs import NQ

DOCS = Path(__file__).parents[3] / "docs" / "models.md"
NAMES = [family.name for family in FAMILIES]


def test_the_docs_show_the_families() -> None:
    assert table() in DOCS.read_text(encoding="utf-8")
    assert [*SMALLS] == NAMES


@pytest.mark.parametrize("family", FAMILIES, ids=NAMES)
def test_a_family(family: Family, tmp_path: Path) -> None:
    small = SMALLS[family.name]
    folder = save_small(tmp_path / "m", small)
    _check_what_is_understood(family, small, folder)
    model = HfModel(folder, "m", "r", "float32")
    assert model.max_positions == small.limit
    assert {*family.stops} <= {*model.tokenizer.convert_ids_to_tokens(model.stops)}
    _check_that_data_is_plain_text(model, small)
    ids = model.tokenizer(small.thinks, add_special_tokens=False).input_ids
    assert parse(NQ, model.decode(ids)) == Parsed("Rome")
    if family.opens:
        assert parse(NQ, model.decode(model.tokenizer("Oslo").input_ids)) == Parsed(None, 0, truncated=True)
    (generation,) = model.generate(["Who wrote Emma?"], 2)
    assert generation.n_prompt_tokens == model.count("Who wrote Emma?")
    assert generation.n_new_tokens + (not generation.truncated) <= 2


def _check_what_is_understood(family: Family, small: Small, folder: Path) -> None:
    facts, prompt = understood(find_checkpoint(str(folder)), Prompted("m"))
    assert facts["context length"].startswith(f"{small.limit:,} (")
    assert facts["template fields"] == (", ".join(family.switches) or "none")
    assert (facts["template's day"] == "2024-07-26") == family.dated
    words = {"turn": "a turn of its own", "in the user's turn": "in the user's turn", "refused": "refused:"}
    assert facts["system text"].startswith(words[family.system])
    assert facts["thoughts"].startswith("begun by the template") == family.opens
    assert (facts["sliding window"] == "none") == (not family.window)
    assert facts["layers to probe"].partition(": the")[0] == small.layers
    begins = {"all layers": "all", "full-attention layers": "1 of", "not possible": "none"}
    assert small.layers.startswith(begins[family.probed])
    assert "Who wrote Emma?" in prompt


def _check_that_data_is_plain_text(model: HfModel, small: Small) -> None:
    """The template's tokens are the same, whatever a passage holds."""
    control = {*model.tokenizer.added_tokens_decoder}
    plain, attacked = (model.encode(f"A {text} tag.") for text in ("plain", " ".join(small.tokens)))
    assert [id for id in plain if id in control] == [id for id in attacked if id in control] != []
    same = next(at for at, (a, b) in enumerate(zip(plain, attacked, strict=False)) if a != b)
    assert model.tokenizer.decode(plain[:same]).endswith("A ")
    assert len(attacked) - len(plain) == len(" ".join(small.tokens).encode()) - len("plain")


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()
    register(app)
    app.command("other")(lambda: None)
    return app


def test_the_command_prints_facts_and_one_prompt(app: typer.Typer, chat_folder: Path) -> None:
    result = CliRunner().invoke(app, ["models", "check", str(chat_folder), "--system", "CITE"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert any(line.split()[:3] == ["context", "length", "4,096"] for line in lines)
    assert any(line.split() == ["stops", "at", "</s>", "<|im_end|>"] for line in lines)
    assert result.stdout.endswith("user\nWho wrote Emma?<|im_end|>\n<|im_start|>assistant\n\n")
    assert "<|im_start|>system\nCITE<|im_end|>" in result.stdout


def test_what_is_no_model_is_one_line(app: typer.Typer, tmp_path: Path) -> None:
    for name, fields in (
        ("t5", {"model_type": "t5"}),
        ("alone", {"model_type": "llama"}),
        ("other", {"model_type": "x"}),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps(fields))
    save_tokenizer(tmp_path / "t5", chat=False)
    for name, said in (
        ("openai:m", "name its Hub id"),
        ("nowhere/there", "nowhere/there"),
        (str(tmp_path), r"no config\.json"),
        (str(tmp_path / "t5"), "not a causal language model"),
        (str(tmp_path / "alone"), "no tokenizer"),
        (str(tmp_path / "other"), "cannot be read"),
    ):
        with pytest.raises(SetupError, match=said) as error:
            CliRunner().invoke(app, ["models", "check", name], catch_exceptions=False)
        assert "\n" not in str(error.value)
