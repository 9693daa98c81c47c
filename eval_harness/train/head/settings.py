"""The settings of a training with a retrieval head."""

from dataclasses import dataclass

from builders.errors import SetupError
from eval_harness.methods.head.files import VARIANT
from eval_harness.methods.head.scorer import Scorer
from eval_harness.train.head.joint import LOSSES, Loss, Objective
from eval_harness.train.settings import Settings


@dataclass(frozen=True)
class HeadSettings(Settings):
    """Settings of a training with a head that encodes a question or passage in `width` dimensions.

    The temperature of the selection of `k` passages decays from `temperature` to `last_temperature`.
    """

    loss: Loss = "gen+ret"
    k: int = 4
    temperature: float = 1.0
    last_temperature: float = 0.1
    head_lr: float = 3e-4
    width: int = 256
    scorer: Scorer = "mlp"

    def kind(self) -> str:
        """The variant in a checkpoint's record."""
        return VARIANT

    def check(self) -> None:
        """Raises SetupError for invalid settings."""
        super().check()
        if self.loss not in LOSSES:
            raise SetupError(f"invalid --loss {self.loss}; available: {', '.join(LOSSES)}")
        if not 0 < self.last_temperature <= self.temperature:
            raise SetupError(
                f"the temperature cannot decay from {self.temperature} to {self.last_temperature}; "
                "give --temperature and a --last-temperature that is not higher, both above 0"
            )
        if self.lora and self.loss == "ret":
            raise SetupError("--loss ret does not train the model, so --lora has no effect; leave it out")

    def objective(self) -> Objective:
        """The objective."""
        return Objective(self.loss, self.k, self.temperature, self.last_temperature, self.seed)
