"""Kernels and the emulator, from Debian packages unpacked into a cache folder: nothing is installed.

An apt configuration of our own, with suites added to the machine's own mirror, leaves that of the
machine untouched. Only what is missing is fetched; later runs need no network.
"""

from __future__ import annotations

import lzma
import os
import re
import shutil
import struct
import subprocess
import tempfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Iterator

# Where each kernel series comes from. "-64k" is one for 64-bit Arm that arm64.py builds from Debian's source.
KERNEL_SUITES = {"6.1": "bookworm", "6.12": "bookworm-backports", "7.2": "trixie-backports",
                 "6.12-64k": "bookworm-backports"}
# For x86 the first release with volatile CXL memory; older ones also panic with 128 CPUs now and then.
QEMU_MAJOR = {"x86_64": 10, "aarch64": 7}
QEMU_PACKAGES = {"x86_64": "qemu-system-x86", "aarch64": "qemu-system-arm"}
QEMU_SUITE = "bookworm-backports"
# All modules that some guest loads; with what they depend on they make the initramfs.
MODULES = ("virtio_pci 9p 9pnet_virtio nfit nd_pmem nd_btt nd_e820 device_dax dax_pmem kmem dax_hmem dax_cxl "
           "ext4 crc32c_generic cxl_pci cxl_acpi cxl_mem cxl_port cxl_pmem dummy").split()
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class NotHere(Exception):
    """Something that the guests need can't be had on this machine: a reason to skip, not to fail."""


@dataclass(frozen=True)
class Kernel:
    """A kernel ready to boot: `vmlinux` is the ELF inside Debian's image, `modules` a /lib/modules/VERSION.

    One for 64-bit Arm has no modules; `root` is what its guests see as their file system, because this machine's
    programs are none that they could run."""

    series: str
    version: str
    vmlinux: Path
    modules: Path | None
    root: Path | None = None


@dataclass(frozen=True)
class Qemu:
    """How to start the emulator: its first arguments and its environment."""

    version: str
    command: tuple[str, ...]
    environment: dict[str, str]


def run(*command: str, **options) -> str:
    """Standard output of a command; NotHere with its last words if it fails or is not installed."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **options)
    except FileNotFoundError:
        raise NotHere(f"{command[0]} is not installed") from None
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise NotHere(f"{' '.join(command[:3])} failed: {words[-1] if words else done.returncode}")
    return done.stdout


class Cache:
    """The folder of unpacked packages: $NUMATLAS_GUEST_CACHE, or numatlas/guests in the user's cache."""

    def __init__(self, say) -> None:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        self.folder = Path(os.environ.get("NUMATLAS_GUEST_CACHE") or home / "numatlas" / "guests")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.say = say
        self._apt: dict[str, str] | None = None

    @contextmanager
    def made_whole(self, name: str, lock_name: str = "lock") -> Iterator[tuple[Path, Path | None]]:
        """(final folder, folder to fill or None if it is there): what fails midway leaves nothing. What takes
        minutes has a lock of its own, so that nobody else waits for it."""
        final = self.folder / name
        with open(self.folder / lock_name, "w") as lock:
            flock(lock, LOCK_EX)
            if final.exists():
                yield final, None
                return
            work = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=self.folder))
            try:
                yield final, work
                work.rename(final)
            finally:
                shutil.rmtree(work, ignore_errors=True)

    def kernel(self, series: str) -> Kernel:
        """The newest kernel of a series ('6.12') that Debian has, or had when it was fetched."""
        # Another list of modules is another folder.
        with self.made_whole(f"linux-{series}-{zlib.crc32(' '.join(MODULES).encode()):08x}") as (final, work):
            if work:
                self._fetch_kernel(series, work)
        modules = next((final / "lib/modules").iterdir())
        return Kernel(series, modules.name, final / "vmlinux", modules)

    def _fetch_kernel(self, series: str, work: Path) -> None:
        pattern = rf"^linux-image-{re.escape(series)}\.[0-9.]+[^ ]*-amd64$"
        names = [line.split()[0] for line in self.run_apt("apt-cache", "search", "--names-only", pattern).splitlines()]
        # `cloud` and `rt` are other flavours of the same release, without some of our modules.
        names = [name for name in names if not re.search("cloud|rt-", name)]
        if not names:
            raise NotHere(f"this machine's Debian mirror has no kernel {series}")
        newest = max(names, key=lambda name: [int(part) for part in re.findall(r"\d+", name)])
        self.say(f"fetching {newest}")
        # Newer kernels come in parts.
        parts = [newest] + re.findall(r"Depends: (linux-(?:binary|modules)-\S+)", self.run_apt("apt-cache", "depends", newest))
        self.run_apt("apt-get", "download", "-q", *parts, cwd=work)
        for package in work.glob("*.deb"):
            run("dpkg-deb", "-x", str(package), str(work / "root"))
            package.unlink()
        images = [path for place in ("boot/vmlinuz-*", "usr/lib/modules/*/vmlinuz") for path in work.glob(f"root/{place}")]
        if not images:
            raise NotHere(f"{newest} has no kernel image where the harness looks")
        (work / "vmlinux").write_bytes(elf_of(images[0].read_bytes()))
        modules = next(path for path in (work / "root/lib/modules", work / "root/usr/lib/modules") if path.exists())
        keep_modules(next(modules.iterdir()), work)
        shutil.rmtree(work / "root")

    def qemu(self, arch: str = "x86_64") -> Qemu:
        """The machine's own QEMU if it is new enough, otherwise an unpacked one."""
        name = f"qemu-system-{arch}"
        if shutil.which(name):
            version = re.search(r"version (\d+)\.(\S+)", run(name, "--version"))
            if version and int(version[1]) >= QEMU_MAJOR[arch]:
                return Qemu(f"{version[1]}.{version[2]}", (name,), dict(os.environ))
        with self.made_whole("qemu-10" if arch == "x86_64" else f"qemu-{arch}") as (final, work):
            if work:
                self.say(f"fetching {QEMU_PACKAGES[arch]} from {QEMU_SUITE}")
                self._fetch_qemu(work, QEMU_PACKAGES[arch])
        libraries = os.pathsep.join(str(path) for part in ("usr/lib", "lib") for path in (final / part).glob("*-linux-gnu"))
        environment = dict(os.environ, LD_LIBRARY_PATH=libraries)
        command = (str(final / f"usr/bin/{name}"), "-L", str(final / "usr/share/qemu"), "-L", str(final / "usr/share/seabios"))
        text = run(command[0], "--version", env=environment)
        return Qemu(text.split("version ")[1].split()[0], command, environment)

    def _fetch_qemu(self, work: Path, package_name: str) -> None:
        """QEMU and the libraries of it that this machine has not."""
        self.run_apt("apt-get", "-y", "-q", "--download-only", "--no-install-recommends", "-t", QEMU_SUITE,
                      "-o", "Debug::NoLocking=1", "-o", f"Dir::Cache={work}/apt", "install", package_name)
        for package in work.glob("apt/archives/*.deb"):
            run("dpkg-deb", "-x", str(package), str(work))
        shutil.rmtree(work / "apt")

    def run_apt(self, *command: str, **options) -> str:
        self._apt = self._apt or self._configure_apt()
        return run(*command, env=dict(os.environ, LC_ALL="C.UTF-8", **self._apt), **options)

    def _configure_apt(self) -> dict[str, str]:
        """An apt configuration with the suites that we need; the lists are fetched anew."""
        mirror = debian_mirror()
        folder = self.folder / "apt"
        for part in ("lists/partial", "cache/archives/partial"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        suites = sorted({*KERNEL_SUITES.values(), QEMU_SUITE})
        lines = [f"deb [signed-by={KEYRING}] {mirror} {suite} main\n" for suite in suites]
        (folder / "sources.list").write_text("".join(lines))
        settings = {"Dir::Etc::sourcelist": folder / "sources.list", "Dir::Etc::sourceparts": "/dev/null",
                    "Dir::Etc::preferences": "/dev/null", "Dir::Etc::preferencesparts": "/dev/null",
                    "Dir::State": folder, "Dir::State::lists": folder / "lists", "Dir::Cache": folder / "cache",
                    "Dir::State::status": "/var/lib/dpkg/status", "APT::Sandbox::User": "root"}
        (folder / "apt.conf").write_text("".join(f'{name} "{value}";\n' for name, value in settings.items()))
        environment = {"APT_CONFIG": str(folder / "apt.conf")}
        self.say("fetching package lists")
        run("apt-get", "update", "-q", env=dict(os.environ, **environment))
        return environment


def debian_mirror() -> str:
    """The mirror this machine itself uses for Debian, or $NUMATLAS_DEBIAN_MIRROR."""
    if given := os.environ.get("NUMATLAS_DEBIAN_MIRROR"):
        return given
    targets = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(ORIGIN) $(COMPONENT)", "Created-By: Packages")
    for line in targets.splitlines():
        uri, *rest = line.split()
        if rest == ["Debian", "main"] and "security" not in uri:
            return uri
    raise NotHere("apt has no Debian mirror here (NUMATLAS_DEBIAN_MIRROR=URL names one)")


def elf_of(image: bytes) -> bytes:
    """The ELF kernel inside a bzImage: booted directly (PVH), the slow unpacking in the guest falls away.

    Offsets: the kernel's Documentation/arch/x86/boot.rst (setup_sects, payload_offset, payload_length).
    """
    setup_sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    # The last four bytes are the unpacked size.
    payload = image[(setup_sectors + 1) * 512 + offset:][: length - 4]
    if payload.startswith(b"\xfd7zXZ\0"):
        elf = lzma.LZMADecompressor().decompress(payload)
    elif payload.startswith(b"\x28\xb5\x2f\xfd"):
        elf = subprocess.run(["zstd", "-dc"], input=payload, stdout=subprocess.PIPE, check=True).stdout
    else:
        raise NotHere("the kernel image is packed in a way that the harness does not know")
    if not elf.startswith(b"\x7fELF"):
        raise NotHere("the kernel image holds no ELF file")
    return elf


def keep_modules(modules: Path, work: Path) -> None:
    """Copies the wanted modules and what they need, unpacked, to work/lib/modules/VERSION."""
    version = modules.name
    target = work / "lib/modules" / version
    target.mkdir(parents=True)
    depmod = shutil.which("depmod") or "/sbin/depmod"
    run(depmod, "-b", str(modules.parents[2]), version)
    needs = dict(line.split(":", 1) for line in (modules / "modules.dep").read_text().splitlines())
    by_name = {Path(path).name.split(".ko")[0].replace("-", "_"): path for path in needs}
    for name in MODULES:
        path = by_name.get(name)
        if path is None:
            continue  # built into this kernel, or not in its time: the guest's own test tells
        for part in [path, *needs[path].split()]:
            data = (modules / part).read_bytes()
            (target / Path(part).name.removesuffix(".xz")).write_bytes(lzma.decompress(data) if part.endswith(".xz") else data)
    for name in ("modules.builtin", "modules.order", "modules.builtin.modinfo"):
        if (modules / name).exists():
            shutil.copy(modules / name, target / name)
    run(depmod, "-b", str(work), version)
