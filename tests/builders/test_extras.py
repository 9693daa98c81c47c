"""The one line for a package that is not installed."""

import sys
from importlib.metadata import version

import pytest

from builders.extras import install, lacking, what_to_install


def failing(module: str) -> ImportError:
    """What importing a module raises."""
    with pytest.raises(ImportError) as caught:
        __import__(module)
    return caught.value


@pytest.mark.parametrize(
    ("module", "command", "package", "extra"),
    [
        ("faiss", "build", "faiss-cpu", "build"),
        ("torch", "build", "torch", "build"),
        ("torch", "eval", "torch", "eval"),
        ("torch", "train", "torch", "train"),  # which includes eval
        ("peft", "train", "peft", "train"),
        ("peft", "eval", "peft", "train"),  # the first extra that installs it
        ("jnius", "frames", "pyjnius", "build"),
        ("lm_eval", "", "lm-eval", "lm-eval"),
    ],
)
def test_a_missing_package_names_the_extra_that_installs_it(
    module: str, command: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    line = f"{package} is not installed; run: pip install 'icr2[{extra}]'"
    assert what_to_install(failing(module), command) == line


def test_the_package_may_be_missing_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """transformers imports its parts lazily, and raises an error without a name where torch is missing."""
    monkeypatch.setitem(sys.modules, "torch", None)
    try:
        try:
            __import__("torch")
        except ImportError as error:
            raise ModuleNotFoundError("Could not import module 'reader'") from error
    except ImportError as error:
        assert what_to_install(error, "eval") == f"torch is not installed; run: {install('eval')}"


def test_a_version_that_is_asked_for_says_the_same() -> None:
    with pytest.raises(ImportError) as caught:
        version("peft-that-is-not-there")
    assert what_to_install(caught.value, "train") is None
    caught.value.args = ("sentence-transformers",)
    assert what_to_install(caught.value, "eval") == "sentence-transformers is not installed; run: " + install("eval")


@pytest.mark.parametrize("module", ["torch.nowhere", "nowhere"])
def test_what_is_installed_but_broken_or_no_package_of_an_extra_keeps_its_traceback(module: str) -> None:
    assert what_to_install(failing(module), "build") is None


def test_lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lacking("train") == []
    for module in ("peft", "torch"):
        monkeypatch.setitem(sys.modules, module, None)
    assert lacking("train") == ["peft", "torch"]
    assert lacking("lm-eval") == ["torch"]
