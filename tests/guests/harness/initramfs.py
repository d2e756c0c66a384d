"""What a guest starts from: busybox, kernel modules and one init script, as an uncompressed cpio."""

from __future__ import annotations

import os
import shutil
import stat
import struct
from pathlib import Path

from .packages import Kernel, NotHere

# Folders that the init script mounts something on.
MOUNT_POINTS = ("proc", "sys", "dev", "host", "tmp")


class Cpio:
    """An archive in the format `newc`; all files belong to root. (Kernel: early-userspace/buffer-format.rst)"""

    def __init__(self) -> None:
        self._data = bytearray()
        self._inode = 0
        self._folders: set[str] = set()

    def add(self, name: str, mode: int, data: bytes = b"") -> None:
        """Adds one entry, and before it the folders above it."""
        folder = os.path.dirname(name)
        if folder and folder not in self._folders:
            self.add(folder, stat.S_IFDIR | 0o755)
        if stat.S_ISDIR(mode):
            if name in self._folders:
                return
            self._folders.add(name)
        self._inode += 1
        self._entry(name, self._inode, mode, data)

    def _entry(self, name: str, inode: int, mode: int, data: bytes) -> None:
        # ino, mode, uid, gid, nlink, mtime, filesize, devmajor/minor, rdevmajor/minor, namesize, check
        fields = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        self._data += b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        self._pad()
        self._data += data
        self._pad()

    def _pad(self) -> None:
        self._data += bytes(-len(self._data) % 4)

    def bytes(self) -> bytes:
        """The finished archive."""
        self._entry("TRAILER!!!", 0, 0, b"")
        return bytes(self._data)


def build(kernel: Kernel, init: str) -> bytes:
    """The initramfs for one kernel: `init` is the text of /init."""
    busybox = str(kernel.root / "bin/busybox") if kernel.root else shutil.which("busybox")
    if not busybox:
        raise NotHere("busybox is not installed (package busybox-static)")
    data = Path(busybox).read_bytes()
    if b"/ld-linux" in data[:4096]:
        raise NotHere("busybox is not linked statically (package busybox-static)")
    archive = Cpio()
    for name in MOUNT_POINTS:
        archive.add(name, stat.S_IFDIR | 0o755)
    archive.add("bin/busybox", stat.S_IFREG | 0o755, data)
    archive.add("bin/sh", stat.S_IFLNK | 0o777, b"busybox")
    # The kernel itself calls /sbin/modprobe.
    archive.add("sbin/modprobe", stat.S_IFLNK | 0o777, b"/bin/busybox")
    archive.add("init", stat.S_IFREG | 0o755, init.encode())
    for path in sorted(kernel.modules.rglob("*") if kernel.modules else []):
        if path.is_file():
            archive.add(f"lib/modules/{kernel.version}/{path.name}", stat.S_IFREG | 0o644, path.read_bytes())
    return archive.bytes()


def madt(apic_ids: list[int]) -> bytes:
    """An archive that replaces the firmware's list of CPUs: Linux numbers CPUs in the order of this list.

    QEMU counts the threads of a core in a row; real servers have all first threads before the second
    ones. ACPI 6.5, 5.2.12 (MADT); CONFIG_ACPI_TABLE_UPGRADE for the way in. The entries beside the
    CPUs are those of QEMU's own table for the machine types pc and q35.
    """
    entries = [struct.pack("<BBBBI", 0, 8, apic, apic, 1) for apic in apic_ids]  # local APIC: enabled
    entries.append(struct.pack("<BBBBII", 1, 12, 0, 0, 0xFEC00000, 0))  # I/O APIC
    entries.append(struct.pack("<BBBBIH", 2, 10, 0, 0, 2, 0))  # the timer's interrupt 0 arrives as 2
    entries += [struct.pack("<BBBBIH", 2, 10, 0, irq, irq, 0xD) for irq in (5, 9, 10, 11)]  # level, active high
    entries.append(struct.pack("<BBBHB", 4, 6, 0xFF, 0, 1))  # NMI of all processors at LINT1
    body = struct.pack("<II", 0xFEE00000, 1) + b"".join(entries)  # the local APICs' address; a PC with 8259s
    # The revision must be above that of the table it replaces.
    header = bytearray(struct.pack("<4sIBB6s8sI4sI", b"APIC", 36 + len(body), 3, 0, b"BOCHS ", b"BXPC    ", 2, b"BXPC", 1))
    header[9] = -sum(header + body) & 0xFF
    archive = Cpio()
    archive.add("kernel/firmware/acpi/apic.aml", stat.S_IFREG | 0o644, bytes(header) + body)
    return archive.bytes()
