"""The exit codes of the commands, those of the program (docs/exit-codes.md)."""

import errno

USAGE, UNAVAILABLE, PERMISSION, IO = 2, 3, 4, 6


def of_file(error: OSError) -> int:
    """The code of a file that cannot be opened, read or written."""
    return PERMISSION if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) else IO
