"""The options of `icr2 train` are the settings of a training, with the same defaults."""

from dataclasses import fields

from eval_harness.commands.train import SftSteps
from eval_harness.commands.train_head import Head
from eval_harness.commands.train_options import Data, Memory, Steps, settings_of
from eval_harness.train.head.settings import HeadSettings
from eval_harness.train.settings import Settings


def test_defaults_are_those_of_a_training() -> None:
    options = settings_of(Data(["a", "b", "a"]), SftSteps(), Memory())
    assert Settings("da", marks=True, **options) == Settings("da", ("a", "b"))
    options = settings_of(Data(["a"]), Steps(), Memory(), Head())
    assert HeadSettings("da", marks=True, **options) == HeadSettings("da", ("a",))


def test_every_setting_has_an_option() -> None:
    """`processes` is how many processes the launcher started; a head has no marks, and one sample at a time."""
    options = settings_of(Data(["a"]), SftSteps(), Memory())
    assert {field.name for field in fields(Settings)} == {*options, "variant", "marks", "processes"}
    options = settings_of(Data(["a"]), Steps(), Memory(), Head())
    apart = {"variant", "marks", "processes", "batch_size", "metric_every", "metric_n"}
    assert {field.name for field in fields(HeadSettings)} == {*options, *apart}
