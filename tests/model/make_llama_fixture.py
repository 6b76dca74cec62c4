"""Generates tests/model/llama_fixture.safetensors: a tiny Hugging Face Llama with random weights, a
batch and the logits that `transformers` computes for it; positions are scaled as in Llama 3.1.

    python make_llama_fixture.py OUTPUT        (needs torch, transformers, safetensors)
"""
import sys

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(13)
config = LlamaConfig(vocab_size=23, hidden_size=24, intermediate_size=40, num_hidden_layers=2,
                     num_attention_heads=6, num_key_value_heads=2, max_position_embeddings=48,
                     rms_norm_eps=1e-5, rope_theta=500.0, tie_word_embeddings=False,
                     attention_bias=False,
                     rope_scaling={"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0,
                                   "high_freq_factor": 4.0, "original_max_position_embeddings": 16})
model = LlamaForCausalLM(config).eval()
with torch.no_grad():
    for parameter in model.parameters():
        parameter.add_(torch.randn_like(parameter) * 0.2)
    tokens = torch.randint(config.vocab_size, (2, 40))
    logits = model(tokens).logits

tensors = {name: value.contiguous() for name, value in model.state_dict().items()}
tensors["fixture.tokens"] = tokens
tensors["fixture.logits"] = logits
save_file(tensors, sys.argv[1], metadata={"format": "pt"})
