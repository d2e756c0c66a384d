// Building and proving a chase chain against a memset of the same warm memory, in turn, one thread.
//   bench_chain_build [MIB] [ROUNDS]
// Prints each round's seconds, the ratio of the medians, and the memory beyond the buffer.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "kernels/chain.h"
#include "memory/buffer.h"

namespace {

using namespace numatlas;

template <class Work>
double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

int main(int argc, char** argv) {
  const Bytes bytes{(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2048) * mib};
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const long before = peak_kib();
  const auto buffer = allocate({bytes, {}, PageKind::base});
  const auto layout = ChainLayout::make(bytes, {});
  if (!buffer || !layout) return 1;
  std::byte* data = (*buffer)->data();
  std::memset(data, 1, bytes.value);
  std::vector<double> fill, build, proof;
  for (int round = 0; round < rounds; ++round) {
    fill.push_back(seconds_of([&] { std::memset(data, round + 1, bytes.value); }));
    build.push_back(seconds_of([&] { build_chain(data, *layout); }));
    bool proven = false;
    proof.push_back(seconds_of([&] { proven = prove_chain(data, *layout).has_value(); }));
    if (!proven) return 1;
    fmt::print("round {}: memset {:.3f} s, build {:.3f} s, proof {:.3f} s\n", round, fill.back(),
               build.back(), proof.back());
  }
  const double beyond =
      static_cast<double>(peak_kib() - before) / 1024 - static_cast<double>(bytes.value) / mib;
  fmt::print(
      "{}: build / memset {:.2f}, proof / memset {:.2f} (medians), {:.1f} MiB beyond the buffer\n",
      to_text(bytes), median(build) / median(fill), median(proof) / median(fill), beyond);
}
