"""PyTorch doing the work of `trireme bench recovery`: how long from kill -9 of one rank to the next
step that the job finishes.

    torch_recover --ranks 4 --times 10

torchrun sees the death, ends the others and starts all of them again; they go on from the last
checkpoint, which rank 0 writes after every step. Prints a JSON object a death. The model, the batch
and the optimizer are those of torch_train.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

STEPS_BETWEEN = 15


def start(options):
    """torchrun, with this script as its ranks; ends with everything that it started."""
    with tempfile.TemporaryDirectory(prefix="torch-recover-") as folder:
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone",
                   "--nproc-per-node", str(options.ranks), "--max-restarts",
                   str(options.times + 1), __file__, "--times", str(options.times),
                   "--folder", folder]
        # The agent's store keeps the addresses of ranks that are gone, and PyTorch 2.13 connects to
        # them. Gloo can only restart if each start has its own store.
        environment = os.environ | {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
        return subprocess.run(command, check=False, env=environment,
                              stderr=subprocess.DEVNULL).returncode


def train(options):
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    import torch
    import torch.distributed as dist
    from torch.nn import functional
    from torch_train import distribute, make_work

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    folder = pathlib.Path(options.folder)
    saved, killed = folder / "saved", folder / "killed"
    model, batch, target, _, _ = make_work("gpt-nano")
    model, optimizer, _ = distribute(model, "all_reduce", "none")
    step = 0
    if saved.exists():
        state = torch.load(saved)
        step = state["step"]
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    is_started_again = killed.exists()
    while step < STEPS_BETWEEN * options.times + 5:
        # Each time another rank dies and records the time; the other ranks wait for its gradients.
        death, rest = divmod(step, STEPS_BETWEEN)
        mark = folder / f"death-{death}"
        if death > 0 and rest == 0 and rank == (death - 1) % size and not mark.exists():
            mark.touch()
            killed.write_text(str(time.monotonic()))
            os.kill(os.getpid(), signal.SIGKILL)
        optimizer.zero_grad()
        functional.cross_entropy(model(batch), target).backward()
        optimizer.step()
        step += 1
        if rank != 0:
            continue
        if is_started_again:
            is_started_again = False
            print(json.dumps({"case": "torchrun",
                              "seconds": time.monotonic() - float(killed.read_text())}), flush=True)
            killed.unlink()
        state = {"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(state, folder / "saving")
        os.rename(folder / "saving", saved)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--folder", default="")
    options = parser.parse_args()
    if options.folder:
        train(options)
    else:
        sys.exit(start(options))


main()
