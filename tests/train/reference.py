"""Fifty steps of small models as PyTorch makes them: alone, and as two ranks of its DDP and FSDP2.

    reference.py FOLDER

Writes raw little-endian tensors, FOLDER/<model>/<what>.bin: every parameter before the first step
under the name that the library gives it, all samples (input, target) in the order in which they
are used, and the loss of each step (losses; of two ranks together, losses_ddp and losses_fsdp).
"""
import pathlib
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

STEPS, BATCH = 50, 8
folder = pathlib.Path(sys.argv[1])
torch.set_num_threads(1)
torch.manual_seed(11)


def write(model, name, tensor):
    path = folder / model / (name + ".bin")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(tensor.detach().contiguous().numpy().tobytes())


class Net(torch.nn.Module):
    """Parameters by name, and a function of them and a batch."""

    def __init__(self, parameters, function):
        super().__init__()
        self.names = list(parameters)
        self.values = torch.nn.ParameterList([parameters[name].clone() for name in self.names])
        self.function = function

    def forward(self, x):
        return self.function(dict(zip(self.names, self.values)), x)


def linear(parameters, name, inputs, outputs):
    parameters[name + ".weight"] = torch.randn(outputs, inputs) / inputs ** 0.5
    parameters[name + ".bias"] = torch.randn(outputs) * 0.1


def apply(p, name, x):
    return F.linear(x, p[name + ".weight"], p[name + ".bias"])


def mlp():
    p = {}
    linear(p, "layers.0", 64, 33)
    linear(p, "layers.1", 33, 10)

    def forward(p, x):
        return apply(p, "layers.1", F.relu(apply(p, "layers.0", x.flatten(1))))

    return p, forward, torch.randn(STEPS * BATCH, 1, 8, 8), torch.randint(10, (STEPS * BATCH,))


def cnn():
    p = {}
    for i, (inputs, outputs) in enumerate([(1, 4), (4, 6)], 1):
        p[f"conv{i}.weight"] = torch.randn(outputs, inputs, 5, 5) / (25 * inputs) ** 0.5
        p[f"conv{i}.bias"] = torch.randn(outputs) * 0.1
    linear(p, "fc1", 6 * 2 * 2, 12)
    linear(p, "fc2", 12, 10)

    def forward(p, x):
        for i in (1, 2):
            x = F.conv2d(x, p[f"conv{i}.weight"], p[f"conv{i}.bias"], padding=2)
            x = F.max_pool2d(F.relu(x), 2)
        return apply(p, "fc2", F.relu(apply(p, "fc1", x.flatten(1))))

    return p, forward, torch.randn(STEPS * BATCH, 1, 8, 8), torch.randint(10, (STEPS * BATCH,))


def norm(p, name, x):
    return F.layer_norm(x, x.shape[-1:], p[name + ".weight"], p[name + ".bias"])


def gpt(vocabulary=17, length=12, width=16, layers=2, heads=2):
    p = {"transformer.wte.weight": torch.randn(vocabulary, width) * 0.3,
         "transformer.wpe.weight": torch.randn(length, width) * 0.3}
    norms = ["transformer.ln_f"]
    for layer in range(layers):
        h = f"transformer.h.{layer}."
        norms += [h + "ln_1", h + "ln_2"]
        linear(p, h + "attn.c_attn", width, 3 * width)
        linear(p, h + "attn.c_proj", width, width)
        linear(p, h + "mlp.c_fc", width, 4 * width)
        linear(p, h + "mlp.c_proj", 4 * width, width)
    for name in norms:
        p[name + ".weight"] = torch.ones(width)
        p[name + ".bias"] = torch.zeros(width)

    def block(p, h, x):
        b, t, c = x.shape
        qkv = apply(p, h + "attn.c_attn", norm(p, h + "ln_1", x)).split(c, dim=2)
        q, k, v = (z.view(b, t, heads, c // heads).transpose(1, 2) for z in qkv)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + apply(p, h + "attn.c_proj", y.transpose(1, 2).reshape(b, t, c))
        y = F.gelu(apply(p, h + "mlp.c_fc", norm(p, h + "ln_2", x)), approximate="tanh")
        return x + apply(p, h + "mlp.c_proj", y)

    def forward(p, x):
        y = p["transformer.wte.weight"][x] + p["transformer.wpe.weight"]
        for layer in range(layers):
            y = block(p, f"transformer.h.{layer}.", y)
        return F.linear(norm(p, "transformer.ln_f", y), p["transformer.wte.weight"])

    shape = (STEPS * BATCH, length)
    return p, forward, torch.randint(vocabulary, shape), torch.randint(vocabulary, shape)


def train(net, x, y, pick):
    """Losses of 50 steps; `pick` chooses a rank's part of a batch."""
    parameters = list(net.parameters())
    groups = [{"params": [v for v in parameters if v.dim() > 1], "weight_decay": 0.1},
              {"params": [v for v in parameters if v.dim() <= 1], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=3e-3)
    losses = []
    for step in range(STEPS):
        batch = pick(slice(step * BATCH, (step + 1) * BATCH))
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x[batch]).flatten(0, -2), y[batch].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def rank_main(rank, models):
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    mesh = init_device_mesh("cpu", (2,))
    half = BATCH // 2
    for name, (p, forward, x, y) in models.items():
        for what, net in [("losses_ddp", DistributedDataParallel(Net(p, forward))),
                          ("losses_fsdp", fully_shard(Net(p, forward), mesh=mesh))]:
            mine = train(net, x, y,
                         lambda b: slice(b.start + rank * half, b.start + (rank + 1) * half))
            dist.all_reduce(mine)
            if rank == 0:
                write(name, what, mine / 2)
    dist.destroy_process_group()


models = {"mlp": mlp(), "cnn": cnn(), "gpt": gpt()}
ranks = [mp.get_context("fork").Process(target=rank_main, args=(r, models)) for r in (0, 1)]
for process in ranks:
    process.start()
for name, (p, forward, x, y) in models.items():
    for parameter, value in p.items():
        write(name, parameter, value)
    write(name, "input", x)
    write(name, "target", y)
    write(name, "losses", train(Net(p, forward), x, y, lambda batch: batch))
for process in ranks:
    process.join()
    assert process.exitcode == 0
