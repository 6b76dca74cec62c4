"""all_reduce of float32 through PyTorch's Gloo, one thread per rank.

    trireme run -n 2 --bind none -- gloo SIZES SECONDS

SIZES are bytes, separated by commas. Prints a JSON object a size, as `trireme bench` reads them.
The ranks meet through a file in the job's own folder, which goes away with the job."""

import json
import math
import os
import sys
import time

import torch
import torch.distributed as dist
from torch_train import agree, join, over_ranks

BATCH_SECONDS = 0.05
BATCH_MAX = 20000


def is_right(x, rank, ranks):
    """One call on small whole numbers, the sums of which are exact in any order."""
    index = torch.arange(x.numel(), dtype=torch.int64) % 1021
    x.copy_(index * (rank + 1) % 13)
    dist.all_reduce(x)
    expected = sum(index * (r + 1) % 13 for r in range(ranks)).to(x.dtype)
    right = over_ranks(float(torch.equal(x, expected)), dist.ReduceOp.MIN)
    x.zero_()
    return right == 1


def time_calls(x, count):
    times = []
    before = time.perf_counter()
    for _ in range(count):
        dist.all_reduce(x)
        after = time.perf_counter()
        times.append(after - before)
        before = after
    return times


def percentile(times, share):
    return sorted(times)[max(math.ceil(share * len(times)), 1) - 1]


def measure(x, seconds):
    each = sum(time_calls(x, 4)[1:]) / 3
    batch = int(agree(min(max(BATCH_SECONDS / each, 1), BATCH_MAX)))
    times, spent = [], 0.0
    while True:
        dist.barrier()
        part = time_calls(x, batch)
        times += part
        spent += sum(part)
        if agree(1 if spent < seconds else 0) == 0:
            return times


def main():
    sizes = [int(size) for size in sys.argv[1].split(",")]
    seconds = float(sys.argv[2])
    rank, ranks = int(os.environ["TRIREME_RANK"]), int(os.environ["TRIREME_SIZE"])
    torch.set_num_threads(1)
    join(ranks, interface="")
    for size in sizes:
        x = torch.zeros(size // 4)
        right = is_right(x, rank, ranks)
        times = measure(x, seconds)
        right = is_right(x, rank, ranks) and right
        each, p99 = (over_ranks(percentile(times, share), dist.ReduceOp.MAX)
                     for share in (0.5, 0.99))
        if rank == 0:
            print(json.dumps({"op": "all_reduce", "backend": "gloo", "ranks": ranks,
                              "bytes": size, "symmetric": False, "seconds": each,
                              "bytes_per_second": size / each, "verified": right,
                              "type": "float32", "p99": p99}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
