// page_checks [WORKERS [MIB]]: time until as many threads know where their memory of base pages
// lies, each by reading /proc/self/smaps for itself, and all by one reading.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "memory/buffer.h"
#include "placement/touch.h"

using namespace numatlas;

namespace {

template <class Look>
double milliseconds(const std::vector<std::unique_ptr<Buffer>>& buffers, const Look& look) {
  std::latch ready(static_cast<std::ptrdiff_t>(buffers.size()) + 1);
  std::vector<std::thread> threads;
  for (const auto& buffer : buffers) {
    threads.emplace_back([&] {
      ready.arrive_and_wait();
      look(*buffer);
    });
  }
  ready.arrive_and_wait();
  const auto start = std::chrono::steady_clock::now();
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return 1e3 * time.count();
}

}  // namespace

int main(int argc, char** argv) {
  const int workers = argc > 1 ? std::atoi(argv[1]) : 64;
  const Bytes size{static_cast<std::uint64_t>(argc > 2 ? std::atoi(argv[2]) : 32) * mib};
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (int worker = 0; worker < workers; ++worker) {
    auto buffer = allocate({size, {MemoryMode::inherit, {}}});
    if (!buffer) return EXIT_FAILURE;
    touch_pages((*buffer)->data(), (*buffer)->bytes());
    buffers.push_back(*std::move(buffer));
  }
  std::printf("%d workers, %s each\n", workers, to_text(size).c_str());
  std::printf("%8s %8s\n", "each ms", "once ms");
  for (int round = 0; round < 5; ++round) {
    const double each =
        milliseconds(buffers, [](const Buffer& buffer) { (void)buffer.residency(); });
    const ProcessMappings mappings;
    const double once =
        milliseconds(buffers, [&](const Buffer& buffer) { (void)buffer.residency(mappings); });
    std::printf("%8.1f %8.1f\n", each, once);
  }
  return 0;
}
