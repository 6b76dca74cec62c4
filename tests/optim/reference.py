"""What torch.optim makes of the same gradients in 100 steps, with its own schedulers.

    reference.py FOLDER

Writes raw little-endian tensors: value.bin, gradients.bin (100 of them) and, for each case,
<case>.bin, the values after the last step.
"""
import pathlib
import sys

import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, StepLR

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
torch.manual_seed(5)
STEPS, COUNT = 100, 1003
value = torch.randn(COUNT)
gradients = torch.randn(STEPS, COUNT) * torch.logspace(-3, 1, COUNT)


def write(name, tensor):
    (folder / (name + ".bin")).write_bytes(tensor.detach().contiguous().numpy().tobytes())


CASES = {
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
        parameter = torch.nn.Parameter(value.to(dtype).clone())
        optimizer = make([parameter])
        scheduler = schedule(optimizer) if schedule else None
        for gradient in gradients.to(dtype):
            parameter.grad = gradient.clone()
            if name == "clipped":
                torch.nn.utils.clip_grad_norm_([parameter], 1.0)
            optimizer.step()
            if scheduler:
                scheduler.step()
        write(name + suffix, parameter)
