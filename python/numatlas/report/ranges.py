"""Lists of numbers as people and kernels write them."""


def numbers_of(text: str) -> list[int]:
    """ "0-2,8" -> [0, 1, 2, 8]."""
    found: list[int] = []
    for part in filter(None, str(text).split(",")):
        first, _, last = part.strip().partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def ranges_of(numbers: list[int]) -> str:
    """[0, 1, 2, 8] -> "0-2,8"."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)
