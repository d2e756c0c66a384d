#!/usr/bin/env python3
"""Bandwidth of a GPU's memory as PyTorch reaches it, on three arrays of floats: sum (reads), fill (writes), copy, add.

  reference_torch.py [GPU [MIB [LAUNCHES [ROUNDS]]]]        (0 1024 20 3), MIB of one array

Prints JSON: bytes a second by the GPU's events, read and written, a value a round. Exit status 77: no torch or no GPU
here.
"""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from torch_reference import measure, open_gpu  # noqa: E402


def main():
    torch, gpu, mib, launches, rounds = open_gpu([0, 1024, 20, 3])
    a, b, c = (torch.rand(mib << 18, device="cuda") for _ in range(3))
    torch.cuda.synchronize()
    array = mib << 20
    works = {
        "read": (lambda: torch.sum(a), array),
        "write": (lambda: c.fill_(1.5), array),
        "copy": (lambda: c.copy_(a), 2 * array),
        "add": (lambda: torch.add(a, b, out=c), 3 * array),
    }
    rates = {name: measure(torch, work, moved, launches, rounds) for name, (work, moved) in works.items()}
    print(json.dumps({"name": torch.cuda.get_device_name(gpu), "torch": torch.__version__, **rates}))


if __name__ == "__main__":
    main()
