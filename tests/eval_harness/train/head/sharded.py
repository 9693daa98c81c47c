"""One of two processes that each hold half of the weights."""

import torch
import torch.distributed as dist
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from eval_harness.train.head.joint import Objective
from tests.eval_harness.train.head.test_joint import batch, parts


def compared(anew: str) -> None:
    """Compares loss and gradients of a sharded module with those of a whole one.

    Where `anew` is `wrapped`, activations are computed anew by the wrapper that FSDP brings.
    """
    dist.init_process_group("gloo")
    mesh = init_device_mesh("cpu", (2,))
    whole, ours = parts(Objective("gen+ret", 2)), parts(Objective("gen+ret", 2))
    layers = ours.network.model.layers
    for at, layer in enumerate(layers):
        if anew == "wrapped":
            layers[at] = checkpoint_wrapper(layer)
        fully_shard(layers[at], mesh=mesh)
    fully_shard(ours, mesh=mesh)
    losses = []
    for module in (whole, ours):
        loss = module(**batch())["loss"]
        loss.backward()
        losses.append(loss.item())
    assert losses[0] == losses[1]
    for one, other in zip(whole.parameters(), ours.parameters(), strict=True):
        torch.testing.assert_close(other.grad.full_tensor(), one.grad)
    dist.destroy_process_group()
