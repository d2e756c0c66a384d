// Updates scattered over memory: what first-touch measurements take, since a prefetcher that runs
// ahead of a plain loop hides much of what the memory's distance costs.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "kernels/filling.h"
#include "kernels/kind.h"

namespace numatlas {
namespace {

constexpr std::size_t scatter_line = 64;
constexpr std::size_t scatter_words = scatter_line / sizeof(std::uint64_t);
// Lines from one update to the next: beyond the 2 KiB that stride prefetchers follow, and short of
// a base page by little, so that nearly every update is on another page than the one before.
constexpr std::size_t least_stride = 57;

Expected<void> check_scatter_size(const KernelSpec&, Bytes size) {
  if (size.value >= scatter_line) return {};
  return fail_usage("--size", fmt::format("{} are less than a cache line", to_text(size)));
}

class ScatterKernel final : public Kernel {
 public:
  explicit ScatterKernel(const KernelSpec&) {}

  Expected<void> prepare(const KernelMemory& memory) override {
    TRY(check_scatter_size({}, Bytes{memory.bytes}));
    words_ = reinterpret_cast<std::uint64_t*>(memory.data);
    lines_ = memory.bytes / scatter_line;
    // Without a common divisor the strides come by every line once before they start over.
    stride_ = least_stride;
    while (std::gcd(stride_, lines_) != 1) ++stride_;
    stride_ %= lines_;
    return fill_in_pieces(memory.bytes, [&](std::size_t first, std::size_t end) {
      std::memset(memory.data + first, 0, end - first);
    });
  }

  void run(std::uint64_t steps) override {
    std::size_t line = line_;
    for (std::uint64_t step = 0; step < steps; ++step) {
      ++words_[line * scatter_words];
      line = next(line);
    }
    line_ = line;
    updates_ += steps;
  }

  std::uint64_t steps_per_pass() const override { return lines_; }

  /// Every line has counted its updates in its first word, and the others are as they were.
  Expected<void> verify() const override {
    std::size_t line = 0;
    for (std::uint64_t i = 0; i < lines_; ++i, line = next(line)) {
      const std::uint64_t* const words = words_ + line * scatter_words;
      const std::uint64_t found = words[0];
      const std::uint64_t expected = updates_ / lines_ + (i < updates_ % lines_ ? 1 : 0);
      if (found == expected && std::all_of(words + 1, words + scatter_words,
                                           [](std::uint64_t word) { return word == 0; }))
        continue;
      return fail(
          ErrorKind::internal,
          fmt::format(
              "kernel scatter: line {} says {} updates, not {}, or has another word changed", line,
              found, expected));
    }
    return {};
  }

 private:
  std::size_t next(std::size_t line) const {
    line += stride_;
    return line < lines_ ? line : line - lines_;
  }

  std::uint64_t* words_ = nullptr;
  std::size_t lines_ = 0, stride_ = 0;
  std::size_t line_ = 0;  ///< the next one
  std::uint64_t updates_ = 0;
};

}  // namespace

std::vector<KernelKind> ScatterParameters::kinds() {
  return {{.usual = ScatterParameters{},
           .traits = {.in_place = true},
           .make = made<ScatterKernel>,
           .check_size = check_scatter_size,
           .traffic = [](const KernelSpec&) -> Traffic {
             return {scatter_line, scatter_line, 0};
           }}};
}

}  // namespace numatlas
