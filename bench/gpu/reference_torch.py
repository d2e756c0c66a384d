#!/usr/bin/env python3
"""Bandwidth of a GPU's memory as PyTorch reaches it, on three arrays of floats: sum (reads), fill (writes), copy, add.

  reference_torch.py [GPU [MIB [LAUNCHES [ROUNDS]]]]        (0 1024 20 3), MIB of one array

Prints JSON: bytes a second by the GPU's events, read and written, a value a round. Exit status 77: no torch or no GPU
here.
"""
import json
import sys

SKIPPED, WARM_UPS = 77, 4


def skip(reason):
    print(reason, file=sys.stderr)
    sys.exit(SKIPPED)


def measure(torch, work, moved, launches, rounds):
    """`moved`: bytes of a launch."""
    stream = torch.cuda.current_stream()
    for _ in range(WARM_UPS):
        work()
    stream.synchronize()
    rates = []
    for _ in range(rounds):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record(stream)
        for _ in range(launches):
            work()
        end.record(stream)
        stream.synchronize()
        rates.append(launches * moved / (start.elapsed_time(end) * 1e-3))
    return rates


def main():
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        skip(f"torch is not installed: {error}")
    if not torch.cuda.is_available():
        skip("torch finds no GPU")
    gpu, mib, launches, rounds = [int(word) for word in sys.argv[1:]] + [0, 1024, 20, 3][len(sys.argv) - 1:]
    if gpu >= torch.cuda.device_count():
        skip(f"torch finds no GPU {gpu}")
    torch.cuda.set_device(gpu)
    a, b, c = (torch.rand(mib << 18, device="cuda") for _ in range(3))
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
