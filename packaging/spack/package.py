# Spack's package of numatlas. A version is added with the checksum of its source archive, which SHA256SUMS of
# the release has: version("0.1.0", sha256="...").
from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # before Spack 1.0 it is one of spack.package
    pass


class Numatlas(CMakePackage):
    """Measures memory latency and bandwidth across NUMA nodes, CXL memory and GPUs, verifies where pages and
    workers were, and states each figure with its confidence interval."""

    # The archive of `scripts/release source`, in the folder of a mirror or of this file.
    url = "file:///opt/sources/numatlas-0.1.0.tar.gz"

    license("MIT")

    version("0.1.0")

    variant("mpi", default=True, description="Build a plug-in for the MPI of the environment")
    variant("openmp", default=True, description="Worker team of OpenMP threads, otherwise std::thread")
    variant("report", default=False, description="What `numatlas report` and `numatlas plot` need")

    depends_on("c", type="build", when="+mpi")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("help2man", type="build")  # manual pages
    depends_on("boost", type="build")  # headers of Boost.Math
    depends_on("cli11", type="build")
    depends_on("fmt@9:")
    depends_on("highway@1:")
    depends_on("hwloc@2.4:2")
    depends_on("nlohmann-json", type="build")
    depends_on("pugixml")
    depends_on("tl-expected", type="build")
    depends_on("tomlplusplus", type="build")
    depends_on("mpi", when="+mpi")
    depends_on("python@3.11:", type="run", when="+report")
    depends_on("py-pandas@2:", type="run", when="+report")
    depends_on("py-fastjsonschema@2.16:", type="run", when="+report")
    depends_on("py-matplotlib@3.7:", type="run", when="+report")
    depends_on("py-jinja2@3.1:", type="run", when="+report")

    conflicts("%gcc@:11", msg="numatlas is written in C++20")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("NUMATLAS_TESTS", False),
            self.define("NUMATLAS_PACKAGE", True),
            self.define("CMAKE_UNITY_BUILD", True),
            self.define_from_variant("NUMATLAS_MPI", "mpi"),
            self.define_from_variant("NUMATLAS_OPENMP", "openmp"),
        ]
        if self.spec.satisfies("+mpi"):
            args.append(self.define("NUMATLAS_MPI_COMPILERS", self.spec["mpi"].mpicc))
        return args

    def test_version(self):
        """Runs on a machine of any kind."""
        numatlas = Executable(join_path(self.prefix.bin, "numatlas"))
        assert str(self.version) in numatlas("--version", output=str)
