"""Writes PyTorch's results for small models: weights, a batch, logits, loss and gradients; mlp, cnn
and gpt in float32, the others in float64.

    reference.py FOLDER

Writes raw little-endian tensors, FOLDER/<model>/<what>.bin; parameters and gradients under the
names that Trireme uses.
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
    if y.is_floating_point():
        loss = F.mse_loss(logits, y.view_as(logits))
    else:
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


def rope(x, base, factor, low, high, original):
    """Rotates (b, h, t, d) as LlamaForCausalLM does, with frequencies of "rope_type": "llama3"."""
    d = x.shape[-1]
    inv_freq = 1.0 / base ** (torch.arange(0, d, 2) / d)
    wavelen = 2 * torch.pi / inv_freq
    scaled = torch.where(wavelen > original / low, inv_freq / factor, inv_freq)
    smooth = (original / wavelen - low) / (high - low)
    between = (1 - smooth) * scaled / factor + smooth * scaled
    is_between = ~(wavelen < original / high) * ~(wavelen > original / low)
    freqs = torch.outer(torch.arange(x.shape[-2]).double(),
                        torch.where(is_between, between, scaled))
    angles = torch.cat((freqs, freqs), dim=-1)
    rotated = torch.cat((-x[..., d // 2:], x[..., :d // 2]), dim=-1)
    return x * angles.cos() + rotated * angles.sin()


def llama(vocabulary=17, length=24, c=32, layers=2, heads=4, shared=2, hidden=40):
    d = c // heads
    p = {"model.embed_tokens.weight": torch.randn(vocabulary, c)}
    for layer in range(layers):
        h = f"model.layers.{layer}."
        for name in ("input_layernorm", "post_attention_layernorm"):
            p[h + name + ".weight"] = 1 + torch.randn(c) * 0.1
        for name, a, b in (("self_attn.q_proj", c, c), ("self_attn.k_proj", c, shared * d),
                           ("self_attn.v_proj", c, shared * d), ("self_attn.o_proj", c, c),
                           ("mlp.gate_proj", c, hidden), ("mlp.up_proj", c, hidden),
                           ("mlp.down_proj", hidden, c)):
            p[h + name + ".weight"] = torch.randn(b, a) / a ** 0.5
    p["model.norm.weight"] = 1 + torch.randn(c) * 0.1
    p["lm_head.weight"] = torch.randn(vocabulary, c) / c ** 0.5

    def rms(p, name, x):
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * p[name + ".weight"]

    def forward(p, x):
        y = p["model.embed_tokens.weight"][x]
        for layer in range(layers):
            h = f"model.layers.{layer}."
            z = rms(p, h + "input_layernorm", y)
            q, k, v = ((z @ p[h + f"self_attn.{n}_proj.weight"].t())
                       .view(*x.shape, -1, d).transpose(1, 2) for n in "qkv")
            q, k = (rope(a, 500.0, 4.0, 1.0, 4.0, 16) for a in (q, k))
            k, v = (a.repeat_interleave(heads // shared, dim=1) for a in (k, v))
            scores = q @ k.transpose(2, 3) / d ** 0.5
            scores = scores.masked_fill(torch.ones(length, length).triu(1).bool(), float("-inf"))
            z = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
            y = y + z @ p[h + "self_attn.o_proj.weight"].t()
            z = rms(p, h + "post_attention_layernorm", y)
            z = F.silu(z @ p[h + "mlp.gate_proj.weight"].t()) * (z @ p[h + "mlp.up_proj.weight"].t())
            y = y + z @ p[h + "mlp.down_proj.weight"].t()
        return rms(p, "model.norm", y) @ p["lm_head.weight"].t()

    shape = (3, length)
    run("llama", p, forward, torch.randint(vocabulary, shape), torch.randint(vocabulary, shape))


def resnet(name, counts, width, expansion, is_small, side):
    p = {}

    def make(conv, bn, inputs, outputs, kernel):
        p[conv + ".weight"] = torch.randn(outputs, inputs, kernel, kernel) / (kernel * inputs ** 0.5)
        p[bn + ".weight"] = 1 + torch.randn(outputs) * 0.1
        p[bn + ".bias"] = torch.randn(outputs) * 0.1

    def use(p, conv, bn, x, stride):
        x = F.conv2d(x, p[conv + ".weight"], stride=stride, padding=p[conv + ".weight"].shape[2] // 2)
        return F.batch_norm(x, None, None, p[bn + ".weight"], p[bn + ".bias"], training=True)

    make("conv1", "bn1", 3, width, 3 if is_small else 7)
    blocks, inputs = [], width
    for stage, count in enumerate(counts):
        inner = width * 2 ** stage
        kernels = (3, 3) if expansion == 1 else (1, 3, 1)
        for i in range(count):
            at, stride = f"layer{stage + 1}.{i}.", 2 if stage and not i else 1
            sizes = [inputs, *[inner] * (len(kernels) - 1), inner * expansion]
            for k, kernel in enumerate(kernels):
                make(f"{at}conv{k + 1}", f"{at}bn{k + 1}", sizes[k], sizes[k + 1], kernel)
            if stride != 1 or inputs != sizes[-1]:
                make(at + "downsample.0", at + "downsample.1", inputs, sizes[-1], 1)
            blocks.append((at, stride, len(kernels)))
            inputs = sizes[-1]
    linear(p, "fc", inputs, 10)

    def forward(p, x):
        x = F.relu(use(p, "conv1", "bn1", x, 1 if is_small else 2))
        if not is_small:
            x = F.max_pool2d(x, 3, 2, 1)
        for at, stride, count in blocks:
            y = x
            for k in range(1, count + 1):
                is_strided = k == (1 if count == 2 else 2)
                y = use(p, f"{at}conv{k}", f"{at}bn{k}", y, stride if is_strided else 1)
                y = F.relu(y) if k < count else y
            if at + "downsample.0.weight" in p:
                x = use(p, at + "downsample.0", at + "downsample.1", x, stride)
            x = F.relu(x + y)
        return apply(p, "fc", x.mean((2, 3)))

    run(name, p, forward, torch.randn(3, 3, side, side), torch.randint(10, (3,)))


def vit(c=12, heads=3, layers=2):
    p = {"patch.weight": torch.randn(c, 1, 4, 4) / 4, "patch.bias": torch.randn(c) * 0.1,
         "token": torch.randn(1, 1, c), "places": torch.randn(1, 7, c) * 0.3}
    for name in [f"layers.{i}.ln_{n}" for i in range(layers) for n in (1, 2)] + ["ln_f"]:
        p[name + ".weight"], p[name + ".bias"] = 1 + torch.randn(c) * 0.1, torch.randn(c) * 0.1
    for layer in range(layers):
        h = f"layers.{layer}."
        linear(p, h + "attn.c_attn", c, 3 * c)
        linear(p, h + "attn.c_proj", c, c)
        linear(p, h + "mlp.c_fc", c, 4 * c)
        linear(p, h + "mlp.c_proj", 4 * c, c)
    linear(p, "head", c, 10)

    def forward(p, x):
        b = x.shape[0]
        x = F.conv2d(x, p["patch.weight"], p["patch.bias"], stride=4).flatten(2).transpose(1, 2)
        x = torch.cat((p["token"].expand(b, 1, c), x), 1) + p["places"]
        for layer in range(layers):
            h = f"layers.{layer}."
            q, k, v = (z.view(b, -1, heads, c // heads).transpose(1, 2)
                       for z in apply(p, h + "attn.c_attn", norm(p, h + "ln_1", x)).split(c, 2))
            y = (q @ k.transpose(2, 3) / (c // heads) ** 0.5).softmax(-1) @ v
            x = x + apply(p, h + "attn.c_proj", y.transpose(1, 2).flatten(2))
            x = x + apply(p, h + "mlp.c_proj",
                          F.gelu(apply(p, h + "mlp.c_fc", norm(p, h + "ln_2", x))))
        return apply(p, "head", norm(p, "ln_f", x)[:, 0])

    run("vit", p, forward, torch.randn(3, 1, 8, 12), torch.randint(10, (3,)))


def lstm(vocabulary=11, c=7):
    module = torch.nn.LSTM(c, c, 2, batch_first=True)
    p = {"embedding.weight": torch.randn(vocabulary, c)}
    p.update({"lstm." + name: value.detach().clone() for name, value in module.named_parameters()})
    linear(p, "head", c, vocabulary)

    def forward(p, x):
        own = {name: p["lstm." + name] for name, _ in module.named_parameters()}
        y, _ = torch.func.functional_call(module, own, (p["embedding.weight"][x],))
        return apply(p, "head", y)

    run("lstm", p, forward, torch.randint(vocabulary, (3, 5)), torch.randint(vocabulary, (3, 5)))


def one_layer():
    for name, y in (("linear", torch.randn(5, 2)), ("logistic", torch.randint(2, (5,)))):
        p = {"weight": torch.randn(2, 12), "bias": torch.randn(2)}
        run(name, p, lambda p, x: F.linear(x.flatten(1), p["weight"], p["bias"]),
            torch.randn(5, 1, 3, 4), y)


def autoencoder():
    p = {}
    for name, sizes in (("encoder", (12, 9, 4, 2)), ("decoder", (2, 4, 9, 12))):
        for i in range(3):
            linear(p, f"{name}.{i}", sizes[i], sizes[i + 1])

    def forward(p, x):
        x = x.flatten(1)
        for name in ("encoder", "decoder"):
            for i in range(3):
                x = apply(p, f"{name}.{i}", x)
                x = F.relu(x) if i < 2 else x
        return x

    x = torch.randn(5, 1, 3, 4)
    run("autoencoder", p, forward, x, x)


mlp()
cnn()
gpt()
torch.set_default_dtype(torch.float64)
llama()
resnet("resnet14", (2, 2, 2), 4, 1, True, 9)
resnet("resnet18", (2, 2, 2, 2), 4, 1, True, 9)
resnet("resnet50", (3, 4, 6, 3), 2, 4, False, 65)
vit()
lstm()
one_layer()
autoencoder()
