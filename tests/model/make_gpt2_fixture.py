"""Generates tests/model/gpt2_fixture.safetensors: a tiny Hugging Face GPT-2 with random weights, a
batch and the logits that `transformers` computes for it.

    python make_gpt2_fixture.py OUTPUT        (needs torch, transformers, safetensors)
"""
import sys

import torch
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(11)
config = GPT2Config(vocab_size=23, n_positions=16, n_embd=24, n_layer=2, n_head=3,
                    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(config).eval()
with torch.no_grad():
    for parameter in model.parameters():
        parameter.add_(torch.randn_like(parameter) * 0.2)
    tokens = torch.randint(config.vocab_size, (3, 16))
    logits = model(tokens).logits

tensors = {name: value.contiguous() for name, value in model.state_dict().items()
           if name != "lm_head.weight"}  # tied
tensors["fixture.tokens"] = tokens
tensors["fixture.logits"] = logits
save_file(tensors, sys.argv[1], metadata={"format": "pt"})
