"""Writes the results of torch.optim for the same gradients in 100 steps, with its own schedulers;
optimizers that it does not have are implemented here from their papers.

    reference.py FOLDER

Writes raw little-endian tensors: value.bin, gradients.bin (100 of them) and, for each case,
<case>.bin, the values after the last step; plateau.bin, the rates of ReduceLROnPlateau; ema.bin and
swa.bin, averages of the values.
"""
import pathlib
import sys

import torch
from torch.optim.lr_scheduler import (CosineAnnealingLR, CosineAnnealingWarmRestarts,
                                      ExponentialLR, LinearLR, OneCycleLR, PolynomialLR,
                                      ReduceLROnPlateau, StepLR)
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
torch.manual_seed(5)
STEPS, COUNT = 100, 1003
value = torch.randn(COUNT)
gradients = torch.randn(STEPS, COUNT) * torch.logspace(-3, 1, COUNT)


def write(name, tensor):
    (folder / (name + ".bin")).write_bytes(tensor.detach().contiguous().numpy().tobytes())


class Lion(torch.optim.Optimizer):
    """Chen et al. 2023, algorithm 2."""
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for x in self.param_groups[0]["params"]:
            lr, g = self.param_groups[0]["lr"], x.grad
            m = self.state[x].setdefault("m", torch.zeros_like(x))
            c = 0.9 * m + 0.1 * g
            x -= lr * (torch.sign(c) + 0.1 * x)
            m.copy_(0.99 * m + 0.01 * g)


class Lamb(torch.optim.Optimizer):
    """You et al. 2020, algorithm 2, phi being the identity."""
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for x in self.param_groups[0]["params"]:
            lr, g, state = self.param_groups[0]["lr"], x.grad, self.state[x]
            t = state["t"] = state.get("t", 0) + 1
            m = state["m"] = 0.9 * state.get("m", torch.zeros_like(x)) + 0.1 * g
            v = state["v"] = 0.999 * state.get("v", torch.zeros_like(x)) + 0.001 * g ** 2
            r = (m / (1 - 0.9 ** t)) / ((v / (1 - 0.999 ** t)).sqrt() + 1e-6)
            u = r + 0.1 * x
            ratio = x.norm() / u.norm() if x.dim() > 1 else 1
            x -= lr * ratio * u


class Lars(torch.optim.Optimizer):
    """You et al. 2017, algorithm 1."""
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for w in self.param_groups[0]["params"]:
            lr, g, state = self.param_groups[0]["lr"], w.grad, self.state[w]
            local = 0.02 * w.norm() / (g.norm() + 0.1 * w.norm())
            v = state["v"] = 0.9 * state.get("v", torch.zeros_like(w)) + lr * local * (g + 0.1 * w)
            w -= v


MATRIX, TALL, VOLUME = (17, 59), (59, 17), (17, 59, 1)
SHAPES = {"adafactor": MATRIX, "adafactor_volume": VOLUME, "muon": MATRIX, "muon_tall": TALL,
          "lamb": MATRIX, "lars": MATRIX}
CASES = {
    "adagrad": (lambda p: torch.optim.Adagrad(p, 0.01, lr_decay=0.01, weight_decay=0.1), None),
    "rmsprop": (lambda p: torch.optim.RMSprop(p, 0.01, weight_decay=0.1),
                lambda o: ExponentialLR(o, 0.98)),
    "rmsprop_centered": (lambda p: torch.optim.RMSprop(p, 0.01, centered=True, momentum=0.9),
                         lambda o: PolynomialLR(o, STEPS, 2.0)),
    "rmsprop_momentum": (lambda p: torch.optim.RMSprop(p, 0.01, momentum=0.9), None),
    "rmsprop_mean": (lambda p: torch.optim.RMSprop(p, 0.01, centered=True), None),
    "lion": (lambda p: Lion(p, 0.01), None),
    "lamb": (lambda p: Lamb(p, 0.01), None),
    "lamb_vector": (lambda p: Lamb(p, 0.01), None),
    "lars": (lambda p: Lars(p, 0.1), None),
    "adafactor": (lambda p: torch.optim.Adafactor(p, 0.01, weight_decay=0.1), None),
    "adafactor_volume": (lambda p: torch.optim.Adafactor(p, 0.5),
                         lambda o: OneCycleLR(o, 0.5, total_steps=STEPS, cycle_momentum=False)),
    "adafactor_vector": (lambda p: torch.optim.Adafactor(p, 0.01), None),
    "muon": (lambda p: torch.optim.Muon(p, 0.01, weight_decay=0.1), None),
    "muon_tall": (lambda p: torch.optim.Muon(p, 0.01, weight_decay=0.1, nesterov=False,
                                             adjust_lr_fn="match_rms_adamw"),
                  lambda o: CosineAnnealingWarmRestarts(o, 10, 2, 0.001)),
    "sgd": (lambda p: torch.optim.SGD(p, 0.01, weight_decay=0.1), None),
    "momentum": (lambda p: torch.optim.SGD(p, 0.01, momentum=0.9, weight_decay=0.1),
                 lambda o: StepLR(o, 30, 0.5)),
    "nesterov": (lambda p: torch.optim.SGD(p, 0.01, momentum=0.9, nesterov=True),
                 lambda o: LinearLR(o, 1.0, 0.1, STEPS)),
    "adam": (lambda p: torch.optim.Adam(p, 0.01, weight_decay=0.1),
             lambda o: CosineAnnealingLR(o, STEPS, 0.001)),
    "adamw": (lambda p: torch.optim.AdamW(p, 0.01, (0.8, 0.95), weight_decay=0.1), None),
    "clipped": (lambda p: torch.optim.AdamW(p, 0.01, weight_decay=0.1), None),
}

write("value", value)
write("gradients", gradients)
for dtype, suffix in ((torch.float32, ""), (torch.float64, ".double")):
    for name, (make, schedule) in CASES.items():
        parameter = torch.nn.Parameter(value.to(dtype).clone().view(SHAPES.get(name, COUNT)))
        optimizer = make([parameter])
        scheduler = schedule(optimizer) if schedule else None
        for gradient in gradients.to(dtype):
            parameter.grad = gradient.clone().view_as(parameter)
            if name == "clipped":
                torch.nn.utils.clip_grad_norm_([parameter], 1.0)
            optimizer.step()
            if scheduler:
                scheduler.step()
        write(name + suffix, parameter)

# The learning rate after each of 60 metrics, which fall, stay constant, and fall slowly.
metrics = [1 / (1 + i) if i < 10 else 0.1 if i < 40 else 0.1 - 1e-5 * i for i in range(60)]
holder = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], 1.0)
plateau = ReduceLROnPlateau(holder, "min", 0.5, patience=3, cooldown=2, min_lr=0.01, eps=0)
rates = []
for metric in metrics:
    plateau.step(metric)
    rates.append(holder.param_groups[0]["lr"])
write("plateau", torch.tensor(rates, dtype=torch.float64))

for name, every, average in (("ema", 1, get_ema_multi_avg_fn(0.9)), ("swa", 7, None)):
    module = torch.nn.ParameterList([torch.nn.Parameter(value.double().clone())])
    optimizer = torch.optim.SGD(module.parameters(), 0.01, momentum=0.9)
    mean = AveragedModel(module, multi_avg_fn=average)
    for i, gradient in enumerate(gradients.double()):
        module[0].grad = gradient.clone()
        optimizer.step()
        if i + 1 >= 5 and (i + 1 - 5) % every == 0:
            mean.update_parameters(module)
    write(name, next(mean.parameters()))
