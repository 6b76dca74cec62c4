"""Opens folders that we exported with Hugging Face's `transformers`, and saves them again as it does.

    python hugging_face.py FOLDER '{"gpt": ["a text", ...], ...}'

Of each FOLDER/<name> it prints the tokens of the texts, what they decode to and a greedy
continuation, as JSON; writes tokens and logits to FOLDER/<name>.safetensors, and the model in
several files to FOLDER/<name>-again. Exit code 77: transformers is not installed.
"""
import json
import pathlib
import sys

try:
    import transformers
    from safetensors.torch import save_file
except ImportError:
    sys.exit(77)
import torch

folder = pathlib.Path(sys.argv[1])
said = {}
for name, texts in json.loads(sys.argv[2]).items():
    model = transformers.AutoModelForCausalLM.from_pretrained(folder / name).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / name)
    tokens = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0
    with torch.no_grad():
        batch = torch.randint(model.config.vocab_size, (2, 20))
        logits = model(batch).logits
        written = model.generate(torch.tensor([[1, 2, 3]]), do_sample=False, max_new_tokens=12,
                                 attention_mask=torch.ones(1, 3, dtype=torch.long))
    save_file({"tokens": batch, "logits": logits.contiguous()}, folder / f"{name}.safetensors")
    model.save_pretrained(folder / f"{name}-again", max_shard_size="20KB")
    said[name] = {"tokens": tokens, "texts": [tokenizer.decode(each) for each in tokens],
                  "written": written[0, 3:].tolist()}
print(json.dumps(said))
