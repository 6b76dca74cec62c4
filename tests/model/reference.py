"""What PyTorch computes for small models: weights, a batch, logits, loss and gradients.

    reference.py FOLDER

Writes raw little-endian tensors, FOLDER/<model>/<what>.bin; parameters and gradients under the
names that the library gives them.
"""
import pathlib
import sys

import torch
import torch.nn.functional as F

folder = pathlib.Path(sys.argv[1])
torch.manual_seed(7)
torch.set_num_threads(1)


def write(model, name, tensor):
    path = folder / model / (name + ".bin")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(tensor.detach().contiguous().numpy().tobytes())


def run(model, parameters, forward, x, y, smoothing=0.0):
    for parameter in parameters.values():
        parameter.requires_grad_()
    logits = forward(parameters, x)
    loss = F.cross_entropy(logits.flatten(0, -2), y.flatten(), label_smoothing=smoothing)
    loss.backward()
    write(model, "input", x)
    write(model, "target", y)
    write(model, "logits", logits)
    write(model, "loss", loss)
    for name, parameter in parameters.items():
        write(model, name, parameter)
        write(model, name + ".grad", parameter.grad)


def linear(parameters, prefix, inputs, outputs):
    parameters[prefix + ".weight"] = torch.randn(outputs, inputs) / inputs ** 0.5
    parameters[prefix + ".bias"] = torch.randn(outputs) * 0.1


def apply(p, prefix, x):
    return F.linear(x, p[prefix + ".weight"], p[prefix + ".bias"])


def mlp():
    p = {}
    for i, (a, b) in enumerate([(64, 33), (33, 16), (16, 10)]):
        linear(p, f"layers.{i}", a, b)

    def forward(p, x):
        x = F.relu(apply(p, "layers.0", x.flatten(1)))
        return apply(p, "layers.2", F.relu(apply(p, "layers.1", x)))

    run("mlp", p, forward, torch.randn(5, 1, 8, 8), torch.randint(10, (5,)))


def cnn():
    p = {}
    for i, (a, b) in enumerate([(1, 4), (4, 6)], 1):
        p[f"conv{i}.weight"] = torch.randn(b, a, 5, 5) / (25 * a) ** 0.5
        p[f"conv{i}.bias"] = torch.randn(b) * 0.1
    linear(p, "fc1", 6 * 7 * 7, 12)
    linear(p, "fc2", 12, 10)

    def forward(p, x):
        for i in (1, 2):
            x = F.conv2d(x, p[f"conv{i}.weight"], p[f"conv{i}.bias"], padding=2)
            x = F.max_pool2d(F.relu(x), 2)
        return apply(p, "fc2", F.relu(apply(p, "fc1", x.flatten(1))))

    run("cnn", p, forward, torch.randn(3, 1, 28, 28), torch.randint(10, (3,)), smoothing=0.1)


def norm(p, prefix, x):
    return F.layer_norm(x, x.shape[-1:], p[prefix + ".weight"], p[prefix + ".bias"])


def gpt_layer(p, h, x, heads):
    b, t, c = x.shape
    q, k, v = apply(p, h + "attn.c_attn", norm(p, h + "ln_1", x)).split(c, dim=2)
    q, k, v = (z.view(b, t, heads, c // heads).transpose(1, 2) for z in (q, k, v))
    scores = q @ k.transpose(2, 3) / (c // heads) ** 0.5
    scores = scores.masked_fill(torch.ones(t, t).triu(1).bool(), float("-inf"))
    y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c)
    x = x + apply(p, h + "attn.c_proj", y)
    y = F.gelu(apply(p, h + "mlp.c_fc", norm(p, h + "ln_2", x)), approximate="tanh")
    return x + apply(p, h + "mlp.c_proj", y)


def gpt(vocabulary=17, length=12, c=16, layers=2, heads=2):
    p = {"transformer.wte.weight": torch.randn(vocabulary, c) * 0.3,
         "transformer.wpe.weight": torch.randn(length, c) * 0.3}
    for layer in range(layers):
        h = f"transformer.h.{layer}."
        for name in ("ln_1", "ln_2"):
            p[h + name + ".weight"] = 1 + torch.randn(c) * 0.1
            p[h + name + ".bias"] = torch.randn(c) * 0.1
        linear(p, h + "attn.c_attn", c, 3 * c)
        linear(p, h + "attn.c_proj", c, c)
        linear(p, h + "mlp.c_fc", c, 4 * c)
        linear(p, h + "mlp.c_proj", 4 * c, c)
    p["transformer.ln_f.weight"] = 1 + torch.randn(c) * 0.1
    p["transformer.ln_f.bias"] = torch.randn(c) * 0.1

    def forward(p, x):
        y = p["transformer.wte.weight"][x] + p["transformer.wpe.weight"]
        for layer in range(layers):
            y = gpt_layer(p, f"transformer.h.{layer}.", y, heads)
        return norm(p, "transformer.ln_f", y) @ p["transformer.wte.weight"].t()

    shape = (3, length)
    run("gpt", p, forward, torch.randint(vocabulary, shape), torch.randint(vocabulary, shape))


mlp()
cnn()
gpt()
