"""A kernel for 64-bit Arm with pages of 64 KiB, which Debian does not have, and the file system of its guests.

The kernel is built from Debian's source by the cross compiler, trimmed to what arm64-64k.config names; the file
system is Debian packages unpacked into a folder. Both stay in the guests' cache; nothing is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import zlib
from pathlib import Path

from .packages import Cache, Kernel, NotHere, debian_mirror, run

CONFIG = Path(__file__).with_name("arm64-64k.config")
CROSS = "aarch64-linux-gnu-"
# Programs that building the kernel takes, with their Debian packages.
TOOLS = {f"{CROSS}gcc": "gcc-aarch64-linux-gnu", "make": "make", "flex": "flex", "bison": "bison", "bc": "bc",
         "perl": "perl", "xz": "xz-utils"}
# What the steps use, and the libraries of the programs under test.
PACKAGES = ("bash coreutils dash grep sed mawk util-linux findutils numactl procps python3 busybox-static libc-bin "
            "libstdc++6 libgomp1 libhwloc15 libfmt9 libhwy1 libpugixml1v5").split()
ROOT_SUITE = "bookworm"


def kernel(cache: Cache, series: str) -> Kernel:
    """The kernel of a series such as "6.12-64k"; built if it is not in the cache (minutes)."""
    base = series.removesuffix("-64k")
    # Another configuration is another folder.
    with cache.made_whole(f"linux-{series}-{zlib.crc32(CONFIG.read_bytes()):08x}", "lock-arm64") as (final, work):
        if work:
            _build(cache, base, work)
    return Kernel(series, (final / "version").read_text().strip(), final / "Image", None, root(cache))


def _build(cache: Cache, series: str, work: Path) -> None:
    """Leaves Image and version in `work`."""
    if missing := [f"{name} ({package})" for name, package in TOOLS.items() if not shutil.which(name)]:
        raise NotHere(f"to build a kernel for 64-bit Arm, not installed: {', '.join(missing)}")
    cache.say(f"building Linux {series} for 64-bit Arm with pages of 64 KiB (about nine minutes of CPU time)")
    source = work / "source"
    source.mkdir()
    cache.run_apt("apt-get", "download", "-q", f"linux-source-{series}", cwd=work)
    package = next(work.glob("linux-source-*.deb"))
    run("dpkg-deb", "-x", str(package), str(work / "package"))
    archive = next(work.glob("package/usr/src/linux-source-*.tar.xz"))
    run("tar", "-xJf", str(archive), "-C", str(source), "--strip-components=1")
    compiler = f"ccache {CROSS}gcc" if shutil.which("ccache") else f"{CROSS}gcc"
    # The same version wherever and whenever it is built; ccache finds what it had in another folder.
    environment = dict(os.environ, KBUILD_BUILD_TIMESTAMP="1970-01-01", KBUILD_BUILD_USER="numatlas",
                       KBUILD_BUILD_HOST="guest", KCONFIG_ALLCONFIG=str(CONFIG), CCACHE_BASEDIR=str(work))
    log = cache.folder / f"linux-{series}-64k.log"
    make = ["make", "-C", str(source), f"O={work / 'out'}", "ARCH=arm64", f"CROSS_COMPILE={CROSS}"]
    with open(log, "w") as output:
        for arguments in (["allnoconfig"], [f"CC={compiler}", f"-j{len(os.sched_getaffinity(0))}", "Image"]):
            if subprocess.run(make + arguments, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                              check=False).returncode:
                raise NotHere(f"the kernel for 64-bit Arm could not be built (log: {log})")
            if lost := _lost((work / "out/.config").read_text()):
                raise NotHere(f"{CONFIG.name}: this kernel does not take {', '.join(lost)}")
    shutil.copy(work / "out/arch/arm64/boot/Image", work / "Image")
    shutil.copy(work / "out/include/config/kernel.release", work / "version")
    for part in ("source", "package", "out"):
        shutil.rmtree(work / part)
    package.unlink()


def _lost(config: str) -> list[str]:
    """What our file asks for and the configuration made of it has not."""
    lines = set(config.splitlines())
    wanted = [line for line in CONFIG.read_text().splitlines() if line.startswith("CONFIG_")]
    lost = [line for line in wanted if not line.endswith("=n") and line not in lines]
    return lost + [line for line in wanted if line.endswith("=n") and line[:-1] + "y" in lines]


def root(cache: Cache) -> Path:
    """The folder that a guest sees as /: programs, libraries, and places to mount on."""
    with cache.made_whole(f"root-arm64-{zlib.crc32(' '.join(PACKAGES).encode()):08x}") as (final, work):
        if work:
            cache.say("fetching the file system of guests for 64-bit Arm")
            _fetch(work)
    return final


def _fetch(work: Path) -> None:
    """Unpacks the packages with all that they depend on, by an apt of another architecture."""
    apt = work / ".apt"
    for part in ("lists/partial", "cache/archives/partial"):
        (apt / part).mkdir(parents=True)
    (apt / "status").touch()
    keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
    (apt / "sources.list").write_text(f"deb [signed-by={keyring}] {debian_mirror()} {ROOT_SUITE} main\n")
    settings = {"APT::Architecture": "arm64", "APT::Architectures": "arm64", "Dir::Etc::sourcelist": apt / "sources.list",
                "Dir::Etc::sourceparts": "/dev/null", "Dir::Etc::preferences": "/dev/null",
                "Dir::Etc::preferencesparts": "/dev/null", "Dir::State": apt, "Dir::State::lists": apt / "lists",
                "Dir::Cache": apt / "cache", "Dir::State::status": apt / "status", "APT::Sandbox::User": "root"}
    (apt / "apt.conf").write_text("".join(f'{name} "{value}";\n' for name, value in settings.items()))
    environment = dict(os.environ, LC_ALL="C.UTF-8", APT_CONFIG=str(apt / "apt.conf"))
    run("apt-get", "update", "-q", env=environment)
    run("apt-get", "-y", "-q", "--download-only", "--no-install-recommends", "-o", "Debug::NoLocking=1", "install", *PACKAGES,
        env=environment)
    for package in apt.glob("cache/archives/*.deb"):
        run("dpkg-deb", "-x", str(package), str(work))
    shutil.rmtree(apt)
    # What the packages' scripts would have made.
    for link, target in {"bin/sh": "bash", "usr/bin/awk": "mawk"}.items():
        (work / link).unlink(missing_ok=True)
        (work / link).symlink_to(target)
    for folder in ("proc", "sys", "dev", "run", "mnt", "tmp", "etc"):
        (work / folder).mkdir(exist_ok=True)
    (work / "etc/hosts").touch()
    (work / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")
    (work / "etc/group").write_text("root:x:0:\n")
