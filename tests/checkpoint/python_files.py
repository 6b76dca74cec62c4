"""python_files.py FOLDER: reads what the C++ test wrote there and writes what it is to read.

Exits 77 where Python's safetensors is missing."""

import pathlib
import sys
import zipfile

try:
    import safetensors.torch
except ImportError:
    sys.exit(77)
import torch

folder = pathlib.Path(sys.argv[1])
part = safetensors.torch.load_file(folder / "step-00000004" / "part-00000.safetensors")
for name in sorted(part):
    tensor = part[name]
    dtype = str(tensor.dtype).removeprefix("torch.")
    print(name, dtype, list(tensor.shape), tensor.double().sum().item())
single = safetensors.torch.load_file(folder / "single.safetensors")
print(single["w"].flatten().tolist())

weights = {"0.weight": torch.arange(6.0).reshape(2, 3), "0.bias": torch.tensor([7.0, 8.0])}
safetensors.torch.save_file(weights, folder / "python.safetensors")
torch.save(weights, folder / "dict.pt")
model = torch.nn.Sequential(torch.nn.Linear(3, 2))
model.load_state_dict(weights)
torch.save(model.state_dict(), folder / "ordered.pt")
torch.save({"model": weights, "step": 3}, folder / "nested.pt")
views = {"0.weight": torch.arange(6.0).reshape(2, 3).t().contiguous().t(),
         "0.bias": torch.nn.Parameter(torch.arange(10.0)[7:9])}
torch.save(views, folder / "views.pt")

# A tensor's data compressed a thousandfold, which PyTorch never does.
torch.save({"0.weight": torch.zeros(250000), "0.bias": torch.zeros(2)}, folder / "zeros.pt")
with zipfile.ZipFile(folder / "zeros.pt") as stored:
    with zipfile.ZipFile(folder / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as packed:
        for name in stored.namelist():
            packed.writestr(name.replace("zeros/", "bomb/"), stored.read(name))

# The same of a TorchScript archive, which has code beside its pickle.
with zipfile.ZipFile(folder / "script.pt", "w", zipfile.ZIP_DEFLATED) as packed:
    packed.writestr("script/data.pkl", b"\x80\x02" + b")" * 1000000 + b".")
    packed.writestr("script/version", "3\n")
    packed.writestr("script/code/x.py", "")
