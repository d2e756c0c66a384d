"""What the references in PyTorch have in common: the GPU that they are told, and rates by its events."""
import sys

SKIPPED, WARM_UPS = 77, 4


def skip(reason):
    print(reason, file=sys.stderr)
    sys.exit(SKIPPED)


def open_gpu(usual):
    """torch with the GPU of the command line current, and what its other words say, each `usual` where it is absent.
    Ends with exit status 77 where there is no torch or no such GPU."""
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        skip(f"torch is not installed: {error}")
    if not torch.cuda.is_available():
        skip("torch finds no GPU")
    gpu, *numbers = [int(word) for word in sys.argv[1:]] + usual[len(sys.argv) - 1:]
    if gpu >= torch.cuda.device_count():
        skip(f"torch finds no GPU {gpu}")
    torch.cuda.set_device(gpu)
    return torch, gpu, *numbers


def measure(torch, work, moved, launches, rounds):
    """Bytes a second, a value a round: `work` queues what moves so many bytes, `launches` times between two events."""
    stream = torch.cuda.Stream()
    rates = []
    with torch.cuda.stream(stream):
        for _ in range(WARM_UPS):
            work()
        stream.synchronize()
        for _ in range(rounds):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record(stream)
            for _ in range(launches):
                work()
            end.record(stream)
            stream.synchronize()
            rates.append(launches * moved / (start.elapsed_time(end) * 1e-3))
    return rates
