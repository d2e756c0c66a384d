"""Commands that say something on any machine: reads a snapshot (`numatlas topology --format json`)
from standard input, and writes a command a line as machine.sh takes them. First plans, then what
has to be refused: each refusal that this machine gives occasion to."""

import json
import sys

# The kernel allows 1024 nodes, and no machine has so many CPUs.
NO_NODE = 1023
NO_CPU = 99999


def parse_list(text: str) -> list[int]:
    """The numbers of a kernel list such as "0-3,7"."""
    numbers: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        numbers.extend(range(int(first), int(last or first) + 1))
    return numbers


class Facts:
    """What the commands below need to know of a machine."""

    def __init__(self, machine: dict) -> None:
        allowance = machine["allowance"]
        self.nodes: list[dict] = machine["nodes"]
        self.cpuset = set(parse_list(allowance["cpuset"]))
        self.affinity = set(parse_list(allowance["affinity"]))
        self.usable = self.cpuset & self.affinity
        self.cpus = {node["id"]: parse_list(node["cpus"]) for node in self.nodes}
        self.size = {node["id"]: node["memory_total"] or 0 for node in self.nodes}
        self.allowed_nodes = set(parse_list(allowance["memory_nodes"]))
        self.cpu_nodes = [n for n, cpus in self.cpus.items() if self.usable.intersection(cpus)]
        self.memory_nodes = [n for n, size in self.size.items() if size and n in self.allowed_nodes]


def joined(numbers: list[int], separator: str = ",", prefix: str = "") -> str:
    """The numbers as one word."""
    return separator.join(f"{prefix}{number}" for number in numbers)


def plans(facts: Facts) -> list[str]:
    """Placements over all CPUs, all nodes with CPUs, all nodes with memory.

    Sizes are small, so that they fit on an emulated machine as well, but for the last.
    """
    memory = facts.memory_nodes
    small = min(memory, key=lambda node: facts.size[node])
    pair = joined([min(facts.usable), max(facts.usable)])
    return [
        f"exec --cpus cores --memory interleave:{joined(memory)} -- ./program",
        f"ranks {len(facts.cpu_nodes)} exec --cpus {joined(facts.cpu_nodes, '/', 'node:')} "
        "--memory auto -- ./program",
        f"latency --size 32KiB,{facts.size[small]}B --cpus {pair} --memory bind:{small} "
        "--pages base,2M --skip-too-large",
    ]


def refusals(facts: Facts) -> list[str]:
    """What is not there, has none of what is asked for, or is outside what may be used."""
    last = facts.memory_nodes[-1]
    here = [cpu for cpus in facts.cpus.values() for cpu in cpus]
    lines = []
    # What is missing is named by what is there: of interest where that has gaps or is not all of it.
    if sorted(facts.cpus) != list(range(len(facts.cpus))) or facts.usable != set(range(len(here))):
        lines += [
            f"latency --size 1 --memory bind:{NO_NODE}",
            f"exec --cpus node:{NO_NODE} -- ./program",
            f"latency --size 1 --cpus {NO_CPU}",
            f"latency --size {facts.size[last]}B --memory bind:{last}",
        ]

    def first(words: str, numbers: list[int]) -> None:
        if numbers:
            lines.append(words.format(min(numbers)))

    out = [n for n, size in facts.size.items() if size and n not in facts.allowed_nodes]
    first("latency --size 1 --memory bind:{}", [n for n, size in facts.size.items() if not size])
    first("latency --size 1 --cpus node:{}", [n for n, cpus in facts.cpus.items() if not cpus])
    first("latency --size 1 --memory bind:{}", out)
    first(f"exec --memory interleave:{last},{{}} -- ./program", out)
    first("latency --size 1 --cpus {}", [cpu for cpu in here if cpu not in facts.cpuset])
    first("exec --cpus {} -- ./program", [cpu for cpu in facts.cpuset if cpu not in facts.usable])
    first(
        "latency --size 1 --cpus node:{}",
        [n for n, cpus in facts.cpus.items() if cpus and n not in facts.cpu_nodes],
    )
    return lines


def main() -> None:
    """Writes the commands for the machine on standard input."""
    facts = Facts(json.load(sys.stdin))
    print("\n".join(plans(facts) + refusals(facts)))


if __name__ == "__main__":
    main()
