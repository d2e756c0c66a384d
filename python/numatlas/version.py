"""Which numatlas this is."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("numatlas")
except PackageNotFoundError:  # a folder in PYTHONPATH
    __version__ = "unknown"
