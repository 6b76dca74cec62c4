"""PyTorch doing the work of `trireme bench train`: the same models, batches and AdamW.

    torch_train --model cnn --ranks 1 --threads 2 --seconds 3
    trireme run -n 2 --bind none -- torch_train --model mlp --ranks 2 --threads 1 --sync shared

One rank runs eagerly. Several are DistributedDataParallel; with --sync zero1 the optimizer is a
ZeroRedundancyOptimizer, with --sync zero3 the model is sharded by FSDP2; --codec adds a hook that
makes gradients smaller. Prints a JSON object, as `trireme bench` reads it. Under torchrun it works
as well.
"""

import argparse
import json
import math
import os
import pathlib
import time

# The name of this host may not resolve, or may resolve to an interface other than loopback.
os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional

from torch_gpt import Gpt

WARM_STEPS = 5
IMAGES = {"cnn", "mlp"}
# Vocabulary size, context length, embedding dimension, layers, heads, sequences per rank.
TEXTS = {
    "gpt-nano": (65, 64, 128, 4, 4, 12),
    "gpt-mini": (65, 256, 384, 6, 6, 4),
    "gpt-wide": (8192, 128, 768, 4, 12, 2),
}


def make_cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 7 * 7, 512), nn.ReLU(), nn.Linear(512, 10))


def make_mlp():
    layers = [nn.Flatten()]
    for inputs in (784, 2048, 2048):
        layers += [nn.Linear(inputs, 2048), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(2048, 10))


def make_work(name):
    """The model, one batch of this rank, what it is counted in and how much of that it is."""
    if name in IMAGES:
        model = make_cnn() if name == "cnn" else make_mlp()
        return model, torch.randn(64, 1, 28, 28), torch.randint(10, (64,)), "images", 64
    vocabulary, context, width, layers, heads, batch = TEXTS[name]
    x, y = torch.randint(vocabulary, (2, batch, context))
    return Gpt(vocabulary, context, width, layers, heads), x, y.flatten(), "tokens", batch * context


def add_hook(model, codec):
    """What PyTorch has to make gradients smaller."""
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
    if codec == "fp16":
        model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    elif codec == "bf16":
        model.register_comm_hook(None, default_hooks.bf16_compress_hook)
    elif codec == "powersgd":
        # Starts with the third step, before the timing begins.
        state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=4, start_powerSGD_iter=2)
        model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    elif codec != "none":
        raise SystemExit(f"PyTorch has no hook for {codec}")


def distribute(model, sync, codec):
    """The model and its optimizer, as PyTorch's counterpart of `sync` has them."""
    settings = {"lr": 1e-3, "weight_decay": 0.01, "fused": True}
    if not dist.is_initialized():
        return model, torch.optim.AdamW(model.parameters(), **settings), "none"
    if sync == "zero3":
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard
        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        for module in model.modules():
            if isinstance(module, Layer):
                fully_shard(module, mesh=mesh)
        fully_shard(model, mesh=mesh)
        return model, torch.optim.AdamW(model.parameters(), **settings), "fsdp2"
    model = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
    add_hook(model, codec)
    if sync == "zero1":
        from torch.distributed.optim import ZeroRedundancyOptimizer
        optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, **settings)
        return model, optimizer, "zero1"
    return model, torch.optim.AdamW(model.parameters(), **settings), "ddp"


def agree(value):
    """Rank 0's number, on every rank; a small broadcast, once in many steps."""
    if not dist.is_initialized():
        return value
    shared = torch.tensor([value], dtype=torch.float64)
    dist.broadcast(shared, 0)
    return shared.item()


def over_ranks(value, operation):
    if not dist.is_initialized():
        return value
    shared = torch.tensor([value], dtype=torch.float64)
    dist.all_reduce(shared, op=operation)
    return shared.item()


def kernel_says(path, key):
    with open(path, encoding="ascii") as lines:
        for line in lines:
            if line.startswith(key):
                return int(line.split()[1]) * 1024
    return 0


def join(ranks, interface):
    """Meets the others, as bench/namespaces.sh, `trireme run` or torchrun started them."""
    if interface:
        os.environ["GLOO_SOCKET_IFNAME"] = interface
        host = os.environ["TRIREME_STORE"].removeprefix("tcp://").rsplit(":", 1)[0]
        dist.init_process_group("gloo", init_method=f"tcp://{host}:4712",
                                rank=int(os.environ["TRIREME_RANK"]), world_size=ranks)
    elif "TRIREME_RANK" in os.environ:
        meeting = pathlib.Path(os.environ["TRIREME_SECRET_FILE"]).parent / "torch_train"
        dist.init_process_group("gloo", init_method=f"file://{meeting}",
                                rank=int(os.environ["TRIREME_RANK"]), world_size=ranks)
    else:
        dist.init_process_group("gloo")


def train(step, seconds):
    """Seconds, those of the CPU, steps, first and last loss. How many steps is decided before they are timed, so
    that no rank asks another whether to go on."""
    first = step().item()
    for _ in range(WARM_STEPS - 1):
        step()
    begin = time.perf_counter()
    step()
    step()
    each = (time.perf_counter() - begin) / 2
    steps = int(agree(max(1, math.ceil(seconds / each))))
    if dist.is_initialized():
        dist.barrier()
    begin, cpu_begin = time.perf_counter(), time.process_time()
    for _ in range(steps):
        loss = step()
    if dist.is_initialized():
        dist.barrier()
    seconds, cpu_seconds = time.perf_counter() - begin, time.process_time() - cpu_begin
    return seconds, cpu_seconds, steps, first, loss.item()


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--model", default="cnn")
    words.add_argument("--ranks", type=int, default=1)
    words.add_argument("--threads", type=int, default=1)
    words.add_argument("--seconds", type=float, default=3)
    words.add_argument("--precision", default="float32")
    words.add_argument("--sync", default="auto")
    words.add_argument("--apart", action="store_true")
    words.add_argument("--codec", default="none")
    words.add_argument("--wire", type=float, default=0)
    words.add_argument("--interface", default="")
    given = words.parse_args()

    torch.set_num_threads(given.threads)
    # Off by default; denormal numbers then take some processors five times as long.
    torch.set_flush_denormal(True)
    torch.manual_seed(0)
    if given.ranks > 1:
        join(given.ranks, given.interface)
    rank = dist.get_rank() if dist.is_initialized() else 0
    model, x, y, unit, units = make_work(given.model)
    model, optimizer, sync = distribute(model, given.sync, given.codec)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=given.precision == "bf16"):
            loss = functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    seconds, cpu_seconds, steps, first, last = train(step, given.seconds)
    peak = over_ranks(kernel_says("/proc/self/status", "VmHWM:"), dist.ReduceOp.MAX)
    pss = over_ranks(kernel_says("/proc/self/smaps_rollup", "Pss:"), dist.ReduceOp.SUM)
    cpu_seconds = over_ranks(cpu_seconds, dist.ReduceOp.SUM)
    if rank == 0:
        print(json.dumps({
            "model": given.model, "ranks": given.ranks, "precision": given.precision, "sync": sync,
            "units_per_second": units * given.ranks * steps / seconds, "unit": unit,
            "seconds_per_step": seconds / steps,
            "cpu_seconds_per_step": cpu_seconds / steps, "peak_bytes": int(peak), "pss_bytes": int(pss),
            "by": "pytorch", "threads": given.threads, "apart": given.apart, "steps": steps,
            "codec": given.codec, "wire": given.wire,
            "verified": math.isfinite(last) and last < first}), flush=True)
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
