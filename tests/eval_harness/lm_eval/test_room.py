import pytest

from builders.errors import SetupError
from eval_harness.lm_eval.room import check_room
from eval_harness.models.hf import HfModel
from tests.eval_harness.conftest import save_model

POSITIONS = 200
NEW = 16


@pytest.fixture(scope="module", params=[True, False], ids=["chat", "base"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[HfModel, str]:
    folder = save_model(tmp_path_factory.mktemp("room") / "model", chat=request.param, positions=POSITIONS)
    return HfModel(folder, "tiny", "r", "float32"), str(folder)


def fitting(model: HfModel, room: int) -> str:
    """A prompt that fills `room` tokens with its template; the tokenizer makes one token of a byte."""
    return "x" * (room - model.count(""))


def test_a_prompt_may_fill_the_model_to_the_last_token(model: tuple[HfModel, str]) -> None:
    """With its template and its answer, as a run counts it."""
    ours, folder = model
    prompt = fitting(ours, POSITIONS - NEW)
    assert ours.count(prompt) + NEW == ours.max_positions
    check_room(["x", prompt], NEW, {"pretrained": folder})
    with pytest.raises(SetupError, match=r"a prompt needs 201 tokens with 16 for the answer, and .* takes 200"):
        check_room(["x", prompt + "x"], NEW, {"pretrained": folder})


def test_the_users_limit_goes_before_the_models(model: tuple[HfModel, str]) -> None:
    """lm-eval would cut it from the left, the instruction first"""
    ours, folder = model
    prompt = fitting(ours, 100 - NEW)
    check_room([prompt], NEW, {"pretrained": folder, "max_length": 100})
    with pytest.raises(SetupError, match="takes 99"):
        check_room([prompt], NEW, {"pretrained": folder, "max_length": 99})


def test_a_model_that_cannot_be_read_is_not_checked_and_the_log_says_so(caplog: pytest.LogCaptureFixture) -> None:
    check_room(["x" * 9999], NEW, {"pretrained": "/no/such/model"})
    assert "not checked whether prompts fit /no/such/model" in caplog.text


def test_a_model_behind_an_endpoint_is_not_checked(caplog: pytest.LogCaptureFixture) -> None:
    for settings in ({"model": "gpt", "base_url": "http://localhost/v1"}, {}, {"max_length": 300}):
        caplog.clear()
        check_room(["x" * 9999], NEW, settings)
        assert "not checked" in caplog.text


@pytest.mark.parametrize(
    "name", ["max_length", "max_model_len", "context_length", "max_seq_len", "max_context_len", "n_ctx"]
)
def test_every_back_ends_own_name_for_its_limit_is_read(model: tuple[HfModel, str], name: str) -> None:
    """vLLM's, SGLang's; an API model has one token less than it says."""
    ours, folder = model
    prompt = fitting(ours, 100 - NEW)
    check_room([prompt], NEW, {"pretrained": folder, name: 100})
    check_room([prompt], NEW, {"model": "m", "tokenizer": folder, name: "101"})
    for settings in ({"pretrained": folder, name: 99}, {"model": "m", "tokenizer": folder, name: 100}):
        with pytest.raises(SetupError, match="takes 99"):
            check_room([prompt], NEW, settings)


def test_a_limit_on_the_prompt_alone(model: tuple[HfModel, str]) -> None:
    ours, folder = model
    check_room([fitting(ours, 100)], NEW, {"pretrained": folder, "max_input_len": 100})
    with pytest.raises(SetupError):
        check_room([fitting(ours, 101)], NEW, {"pretrained": folder, "max_input_len": 100})
