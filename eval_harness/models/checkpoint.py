"""What a model was tuned to write; it is run only with the matching method."""

from builders.errors import SetupError
from eval_harness.models.base import InFolder, Model
from eval_harness.models.training import Training, read_training

RETRIEVING = ("rta", "cci")  # variants whose output does not begin with the answer
_METHODS = {"head": "rethead@K"}


def training_of(model: Model) -> Training | None:
    """The record of a model's training, None where it has none."""
    return read_training(model.folder) if isinstance(model, InFolder) else None


def check_variant(model: Model, variant: str, method: str) -> Training:
    """The record of a model that was tuned on a variant; SetupError for any other model."""
    training = training_of(model)
    if training is None:
        raise SetupError(
            f"{model.name} has no training.json, so it is unknown whether it was tuned for {method}; "
            f"train it with: icr2 train sft --variant {variant}, or use vanilla_rag"
        )
    if training.variant != variant:
        raise SetupError(
            f"{model.name} was tuned as {training.variant}, not for {method}; use {method_of(training.variant)}"
        )
    return training


def check_answers_at_once(model: Model) -> None:
    """Raises SetupError for a model that was tuned to write a retrieval before its answer."""
    training = training_of(model)
    if training is not None and training.variant in RETRIEVING:
        raise SetupError(
            f"{model.name} was tuned as {training.variant}, and its output does not begin with the answer; "
            f"use {method_of(training.variant)}"
        )


def method_of(variant: str) -> str:
    """The name of the method that a variant is for."""
    return _METHODS.get(variant, f"sft_{variant}")
