"""PyTorch doing the work of `trireme bench gpu`: GPT-2 on one GPU, with the fused AdamW.

    torch_gpu --layers 12 --heads 12 --width 768 --batch 64 --mode compile --precision weights

--mode compile compiles the model together with its loss. --precision autocast keeps float32 weights,
which torch.autocast casts in every step; weights keeps bfloat16 weights, which a fused update of
float32 masters follows. The loss is read at the beginning and at the end only, so that the host may run
ahead. Prints a JSON object, as `trireme bench gpu` reads it.
"""

import argparse
import json
import math
import time

import torch
from torch import nn
from torch.nn import functional

from torch_gpt import Gpt

WARM_STEPS = 5
PROFILED_STEPS = 3
PRINTED_KERNELS = 40


class GptWithLoss(nn.Module):
    """With the initial values of GPT-2."""

    def __init__(self, given):
        super().__init__()
        self.gpt = Gpt(given.vocabulary, given.context, given.width, given.layers, given.heads)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                is_residual = name.endswith(("join.weight", "down.weight"))
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * given.layers) if is_residual else 0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, x, y):
        return functional.cross_entropy(self.gpt(x), y.flatten())


class Update:
    """AdamW; of bfloat16 weights it updates float32 masters, and copies them to the weights."""

    def __init__(self, model, given):
        self.weights = list(model.parameters())
        self.masters = None
        self.norm_max = given.max_grad_norm
        trained = self.weights
        if given.precision == "weights":
            self.masters = [weight.detach().float() for weight in self.weights]
            for master in self.masters:
                master.grad = torch.empty_like(master)
            trained = self.masters
        self.optimizer = torch.optim.AdamW(trained, lr=3e-4, weight_decay=0.1, fused=True)
        self.trained = trained

    def run(self):
        if self.masters:
            torch._foreach_copy_([master.grad for master in self.masters], [w.grad for w in self.weights])
        if self.norm_max > 0:
            nn.utils.clip_grad_norm_(self.trained, self.norm_max)
        self.optimizer.step()
        if self.masters:
            with torch.no_grad():
                torch._foreach_copy_(self.weights, self.masters)
        for weight in self.weights:
            weight.grad = None


def busy_seconds(step, is_printed):
    """Seconds per step in which the GPU ran a kernel or a copy."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(PROFILED_STEPS):
            step()
        torch.cuda.synchronize()
    spans, by_name = [], {}
    for event in profile.profiler.kineto_results.events():
        is_note = getattr(event, "is_user_annotation", lambda: False)()
        if event.device_type() != torch.autograd.DeviceType.CUDA or is_note:
            continue
        spans.append((event.start_ns(), event.start_ns() + event.duration_ns()))
        one = by_name.setdefault(event.name(), [0, 0])
        one[0] += event.duration_ns()
        one[1] += 1
    busy, until = 0, 0
    for begin, end in sorted(spans):
        busy += max(end - max(begin, until), 0)
        until = max(until, end)
    if is_printed:
        print(f"{'ms/step':>9} {'share':>6} {'calls':>7}  kernel")
        ordered = sorted(by_name.items(), key=lambda item: -item[1][0])
        for name, (duration, calls) in ordered[:PRINTED_KERNELS]:
            print(f"{duration / 1e6 / PROFILED_STEPS:9.3f} {100 * duration / max(busy, 1):5.1f}% "
                  f"{calls / PROFILED_STEPS:7.1f}  {name[:100]}")
    return busy / 1e9 / PROFILED_STEPS


def timed(step, seconds):
    """How many steps, and the seconds that they took."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    step()
    step()
    torch.cuda.synchronize()
    each = (time.perf_counter() - begin) / 2
    steps = max(1, math.ceil(seconds / each))
    begin = time.perf_counter()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    return steps, time.perf_counter() - begin


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--layers", type=int, default=12)
    words.add_argument("--heads", type=int, default=12)
    words.add_argument("--width", type=int, default=768)
    words.add_argument("--vocabulary", type=int, default=50304)
    words.add_argument("--batch", type=int, default=64)
    words.add_argument("--context", type=int, default=1024)
    words.add_argument("--max-grad-norm", type=float, default=0)
    words.add_argument("--seconds", type=float, default=5)
    words.add_argument("--mode", choices=["eager", "compile"], default="eager")
    words.add_argument("--precision", choices=["autocast", "weights"], default="autocast")
    words.add_argument("--profile", action="store_true")
    given = words.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("torch_gpu requires a GPU, and PyTorch finds none")

    torch.manual_seed(0)
    device = torch.device("cuda")
    model = GptWithLoss(given).to(device)
    if given.precision == "weights":
        model.bfloat16()
    update = Update(model, given)
    shape = (2, given.batch, given.context)
    tokens = torch.randint(given.vocabulary, shape).pin_memory()
    run = torch.compile(model) if given.mode == "compile" else model

    def step():
        x, y = tokens.to(device, non_blocking=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=given.precision == "autocast"):
            loss = run(x, y)
        loss.backward()
        update.run()
        return loss.detach()

    first = step().item()
    for _ in range(WARM_STEPS - 1):
        step()
    steps, seconds = timed(step, given.seconds)
    peak = torch.cuda.max_memory_allocated()
    busy = busy_seconds(step, given.profile)
    last = step().item()
    print(json.dumps({
        "by": "pytorch " + given.mode, "precision": given.precision,
        "seconds_per_step": seconds / steps, "busy_seconds_per_step": busy,
        "bound_flops_per_second": 0.0, "steps": steps, "peak_bytes": peak,
        "first_loss": first if math.isfinite(first) else None,
        "last_loss": last if math.isfinite(last) else None}), flush=True)


if __name__ == "__main__":
    main()
