#!/usr/bin/env python3
"""The same as reference.c with PyTorch: pinned tensors, several copies queued in a stream between two events.

  reference_torch.py [GPU [MIB [COPIES [ROUNDS]]]]        (0 512 16 7)

Prints JSON: bytes a second by the GPU's events, a value a round. Exit status 77: no torch or no GPU here.
"""
import json
import sys

SKIPPED, WARM_UPS = 77, 4


def skip(reason):
    print(reason, file=sys.stderr)
    sys.exit(SKIPPED)


def measure(torch, to, source, copies, rounds):
    stream = torch.cuda.Stream()
    rates = []
    with torch.cuda.stream(stream):
        for _ in range(WARM_UPS):
            to.copy_(source, non_blocking=True)
        stream.synchronize()
        for _ in range(rounds):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record(stream)
            for _ in range(copies):
                to.copy_(source, non_blocking=True)
            end.record(stream)
            stream.synchronize()
            rates.append(copies * source.numel() / (start.elapsed_time(end) * 1e-3))
    return rates


def main():
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        skip(f"torch is not installed: {error}")
    if not torch.cuda.is_available():
        skip("torch finds no GPU")
    gpu, mib, copies, rounds = [int(word) for word in sys.argv[1:]] + [0, 512, 16, 7][len(sys.argv) - 1:]
    if gpu >= torch.cuda.device_count():
        skip(f"torch finds no GPU {gpu}")
    torch.cuda.set_device(gpu)
    host = torch.empty(mib << 20, dtype=torch.uint8, pin_memory=True)
    device = torch.empty(mib << 20, dtype=torch.uint8, device="cuda")
    host.random_(256)
    sent = host.clone()
    rates = {"h2d": measure(torch, device, host, copies, rounds)}
    host.zero_()  # what comes back came from the GPU
    rates["d2h"] = measure(torch, host, device, copies, rounds)
    if not torch.equal(host, sent):
        sys.exit("the copies are wrong")
    print(json.dumps({"name": torch.cuda.get_device_name(gpu), "torch": torch.__version__, **rates}))


if __name__ == "__main__":
    main()
