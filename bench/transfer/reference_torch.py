#!/usr/bin/env python3
"""The same as reference.c with PyTorch: pinned tensors, several copies queued in a stream between two events.

  reference_torch.py [GPU [MIB [COPIES [ROUNDS]]]]        (0 512 16 7)

Prints JSON: bytes a second by the GPU's events, a value a round. Exit status 77: no torch or no GPU here.
"""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from torch_reference import measure, open_gpu  # noqa: E402


def main():
    torch, gpu, mib, copies, rounds = open_gpu([0, 512, 16, 7])
    size = mib << 20
    host = torch.empty(size, dtype=torch.uint8, pin_memory=True)
    device = torch.empty(size, dtype=torch.uint8, device="cuda")
    host.random_(256)
    sent = host.clone()
    rates = {"h2d": measure(torch, lambda: device.copy_(host, non_blocking=True), size, copies, rounds)}
    host.zero_()  # what comes back came from the GPU
    rates["d2h"] = measure(torch, lambda: host.copy_(device, non_blocking=True), size, copies, rounds)
    if not torch.equal(host, sent):
        sys.exit("the copies are wrong")
    print(json.dumps({"name": torch.cuda.get_device_name(gpu), "torch": torch.__version__, **rates}))


if __name__ == "__main__":
    main()
