"""What a training of a head that retrieves is asked to do."""

from dataclasses import dataclass

from builders.errors import SetupError
from eval_harness.methods.head.files import VARIANT
from eval_harness.methods.head.scorer import Scorer
from eval_harness.train.head.joint import LOSSES, Loss, Objective
from eval_harness.train.settings import Settings


@dataclass(frozen=True)
class HeadSettings(Settings):
    """Choices of a training with a head, which makes `width` values of a question or a passage.

    The temperature of the choice of `k` passages falls from `temperature` to `last_temperature`.
    """

    loss: Loss = "gen+ret"
    k: int = 4
    temperature: float = 1.0
    last_temperature: float = 0.1
    head_lr: float = 3e-4
    width: int = 256
    scorer: Scorer = "mlp"

    def kind(self) -> str:
        """What the record of a checkpoint calls what it was trained for."""
        return VARIANT

    def check(self) -> None:
        """Raises SetupError for choices that a training may not be given."""
        super().check()
        if self.loss not in LOSSES:
            raise SetupError(f"--loss {self.loss}: there are {', '.join(LOSSES)}")
        if not 0 < self.last_temperature <= self.temperature:
            raise SetupError(
                f"the temperature cannot fall from {self.temperature} to {self.last_temperature}; "
                "give --temperature and a --last-temperature that is no higher, both above 0"
            )
        if self.lora and self.loss == "ret":
            raise SetupError("--loss ret leaves the model as it is, so --lora has nothing to adapt; leave it out")

    def objective(self) -> Objective:
        """What is learned."""
        return Objective(self.loss, self.k, self.temperature, self.last_temperature, self.seed)
