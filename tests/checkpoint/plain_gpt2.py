"""plain_gpt2.py FILE: reads GPT-2 weights as Hugging Face lays them out, computes the logits of
fixture.tokens with plain torch and prints how far they are from fixture.logits, as a share.

Exits 77 where Python's safetensors is missing."""

import sys

try:
    import safetensors.torch
except ImportError:
    sys.exit(77)
import torch
import torch.nn.functional as F

HEADS = 3
w = safetensors.torch.load_file(sys.argv[1])
tokens, wanted = w["fixture.tokens"], w["fixture.logits"]


def norm(x, name):
    return F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"])


def project(x, name):
    # Hugging Face's Conv1D: the rows of the weight are the inputs.
    return x @ w[name + ".weight"] + w[name + ".bias"]


def heads_of(x):
    return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)


x = w["transformer.wte.weight"][tokens] + w["transformer.wpe.weight"][: tokens.shape[1]]
layer = 0
while f"transformer.h.{layer}.ln_1.weight" in w:
    at = f"transformer.h.{layer}."
    q, k, v = project(norm(x, at + "ln_1"), at + "attn.c_attn").chunk(3, -1)
    mixed = F.scaled_dot_product_attention(heads_of(q), heads_of(k), heads_of(v), is_causal=True)
    x = x + project(mixed.transpose(1, 2).flatten(2), at + "attn.c_proj")
    hidden = F.gelu(project(norm(x, at + "ln_2"), at + "mlp.c_fc"), approximate="tanh")
    x = x + project(hidden, at + "mlp.c_proj")
    layer += 1
logits = norm(x, "transformer.ln_f") @ w["transformer.wte.weight"].T
print(((logits - wanted).abs().max() / wanted.abs().max()).item())
