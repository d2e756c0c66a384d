// STREAM as McCalpin wrote it: whole passes over three arrays, one operation after the other
// (https://www.cs.virginia.edu/stream/). The scalar is sqrt(2) - 1, for which triad gives back the
// array that copy started from, so that any number of rounds stays within a double's range;
// STREAM's own 3 overflows after 260 rounds. Where an operation is left out the arrays stay within
// bounds too, but for two selections, which have scalars of their own.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numbers>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "kernels/filling.h"
#include "kernels/kind.h"

namespace numatlas {
namespace {

constexpr std::size_t stream_line = 64;
constexpr std::size_t words_per_line = stream_line / sizeof(double);
// As in kernels/stream.cpp: arrays do not start at the same offset of their pages.
constexpr std::size_t page_lines = 4096 / stream_line;
constexpr std::size_t shift_lines = 8;
// Persisted while it still lies in the second-level cache.
constexpr std::size_t block_lines = 64 * kib / stream_line;
constexpr double written_value = 3;
// STREAM's own bound of the relative error, and a rounding a pass on top.
constexpr double least_tolerance = 1e-13;

/// Lines from the start of one array to the start of the next.
std::uint64_t array_stride(std::uint64_t lines) {
  return (lines + page_lines - 1) / page_lines * page_lines + shift_lines;
}

/// Lines of an array, of three in so many bytes.
std::uint64_t lines_in(std::uint64_t bytes) {
  const std::uint64_t lines = bytes / stream_line / 3;
  return lines < page_lines + shift_lines ? 0 : (lines - shift_lines) / page_lines * page_lines;
}

/// `lines`: of an array; 0: as many as fit.
Expected<void> check_passes_size(std::uint64_t lines, Bytes size) {
  if (lines > 0 ? stream_region_bytes(lines) <= size : lines_in(size.value) > 0) return {};
  return fail_usage(
      "--size", fmt::format("{} are too small for one cache line of each of the 3 arrays of STREAM",
                            to_text(size)));
}

/// Different in every word of 512 KiB, so that what went to a wrong place shows; below 2, and
/// exact.
double first_value(std::size_t word) {
  constexpr std::size_t prime = 65'521;
  return 1 + static_cast<double>(word % prime) * 0x1p-16;
}

/// For which these passes, in STREAM's order, change the arrays by no factor from round to round.
double scalar_of(const std::vector<Operation>& passes) {
  using enum Operation;
  if (passes == std::vector{scale, add, triad}) return 1.0 / 3;  // c = a + s c, a = 2 s c
  if (passes == std::vector{copy, scale, triad}) return 0.5;     // c = a, a = 2 s c
  return std::numbers::sqrt2 - 1;
}

/// Every array is a multiple of the first values: the multiple that each operation makes of it.
struct Multiples {
  double a = 1, b = 2, c = 0;
  bool a_is_written = false;  ///< a is the written value in every word

  void apply(Operation operation, double scalar) {
    switch (operation) {
      case Operation::copy: c = a; break;
      case Operation::scale: b = scalar * c; break;
      case Operation::add: c = a + b; break;
      case Operation::triad: a = b + scalar * c; break;
      case Operation::write: a_is_written = true; break;
      case Operation::read:
      case Operation::update:
      case Operation::mix: break;
    }
  }
};

class PassesKernel final : public Kernel {
 public:
  explicit PassesKernel(const KernelSpec& spec)
      : passes_(spec.as<PassesParameters>().passes),
        scalar_(scalar_of(passes_)),
        stores_(spec.stores),
        persist_(spec.as<PassesParameters>().persist),
        lines_(spec.as<PassesParameters>().array_lines) {}

  Expected<void> prepare(const KernelMemory& memory) override {
    TRY(check_passes_size(lines_, Bytes{memory.bytes}));
    if (stores_ == Stores::non_temporal && !has_non_temporal_stores()) {
      return fail(ErrorKind::unavailable,
                  fmt::format("kernel stream: {} has no non-temporal stores", instruction_set()),
                  "use --stores regular");
    }
    make_last_ = memory.persist;
    if (lines_ == 0) lines_ = lines_in(memory.bytes);
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      arrays_[i] =
          reinterpret_cast<double*>(memory.data) + i * array_stride(lines_) * words_per_line;
    }
    // What lies between arrays too, so that no page is left that is nowhere.
    const std::uint64_t stride = array_stride(lines_) * words_per_line;
    for (double* const array : arrays_) std::fill(array + words(), array + stride, 0.0);
    return fill_in_pieces(words(), [&](std::size_t word, std::size_t end) {
      for (; word < end; ++word) {
        arrays_[0][word] = first_value(word);
        arrays_[1][word] = 2 * first_value(word);
        arrays_[2][word] = 0;
      }
    });
  }

  void run(std::uint64_t steps) override {
    while (steps > 0) {
      const Operation operation = passes_[done_ % passes_.size()];
      const bool by_block = persist_ == Persist::per_block && make_last_;
      std::uint64_t lines = std::min(steps, lines_ - position_);
      if (by_block) lines = std::min<std::uint64_t>(lines, block_lines);
      sum_ += run_loop(call_of(operation, position_ * words_per_line, lines));
      if (by_block) last(operation, position_, lines);
      steps -= lines;
      position_ += lines;
      if (position_ < lines_) continue;
      if (persist_ == Persist::individual) last(operation, 0, lines_);
      position_ = 0;
      ++done_;
      multiples_.apply(operation, scalar_);
    }
  }

  bool persists_together() const override {
    return persist_ == Persist::collective && static_cast<bool>(make_last_);
  }
  void persist() override {
    if (done_ > 0) last(passes_[(done_ - 1) % passes_.size()], 0, lines_);
  }

  std::uint64_t steps_per_pass() const override { return lines_; }
  std::vector<Operation> loops() const override { return passes_; }
  void use_width(Operation operation, unsigned bytes) override {
    widths_[static_cast<std::size_t>(operation)] = bytes;
  }

  Expected<void> verify() const override {
    if (not_lasting_) return fail(*not_lasting_);
    const double tolerance = least_tolerance + static_cast<double>(done_) * 0x1p-52;
    const std::array<double, 3> multiples{multiples_.a, multiples_.b, multiples_.c};
    for (std::size_t i = 0; i < arrays_.size() && position_ == 0; ++i) {
      for (std::size_t word = 0; word < words(); ++word) {
        const bool constant = i == 0 && multiples_.a_is_written;
        const double expected = constant ? written_value : multiples[i] * first_value(word);
        const double found = arrays_[i][word];
        if (std::abs(found - expected) <= tolerance * std::abs(expected)) continue;
        return fail(ErrorKind::internal, fmt::format("kernel stream: {}[{}] is {} instead of {}",
                                                     "abc"[i], word, found, expected));
      }
    }
    return verify_sum();
  }

 private:
  std::size_t words() const { return lines_ * words_per_line; }
  LoopCall call_of(Operation operation, std::size_t word, std::uint64_t lines) const {
    double* const a = arrays_[0] + word;
    double* const b = arrays_[1] + word;
    double* const c = arrays_[2] + word;
    LoopCall call;
    call.operation = operation;
    call.stores = stores_;
    call.lines = lines;
    call.width = widths_[static_cast<std::size_t>(operation)];
    call.value = operation == Operation::write ? written_value : scalar_;
    switch (operation) {
      case Operation::copy: call.first = c, call.second = a; break;
      case Operation::scale: call.first = b, call.second = c; break;
      case Operation::add: call.first = c, call.second = a, call.third = b; break;
      case Operation::triad: call.first = a, call.second = b, call.third = c; break;
      default: call.first = a; break;
    }
    return call;
  }

  /// Makes lines that the operation has written last.
  void last(Operation operation, std::uint64_t line, std::uint64_t lines) {
    if (!make_last_ || operation == Operation::read) return;
    const auto done =
        make_last_(call_of(operation, line * words_per_line, lines).first, lines * stream_line);
    if (!done && !not_lasting_) not_lasting_ = done.error();
  }

  /// Of reads alone: the array never changes, so each pass has the same sum.
  Expected<void> verify_sum() const {
    const bool reads = std::all_of(passes_.begin(), passes_.end(),
                                   [](Operation o) { return o == Operation::read; });
    if (!reads || position_ != 0) return {};
    std::uint64_t sum_per_pass = 0;
    for (std::size_t word = 0; word < words(); ++word)
      sum_per_pass += std::bit_cast<std::uint64_t>(arrays_[0][word]);
    if (sum_per_pass * done_ == sum_) return {};
    return fail(ErrorKind::internal,
                "kernel stream: the sum of what was read is not that of the memory");
  }

  std::vector<Operation> passes_;
  double scalar_;
  Stores stores_;
  std::array<unsigned, 8> widths_{};  ///< by operation
  Persist persist_;
  std::function<Expected<void>(const void*, std::size_t)> make_last_;
  std::optional<Error> not_lasting_;  ///< the first that could not be made to last
  std::uint64_t lines_;
  std::array<double*, 3> arrays_{};
  std::uint64_t position_ = 0, done_ = 0;  ///< line within the pass; whole passes
  Multiples multiples_;
  std::uint64_t sum_ = 0;
};

}  // namespace

Bytes stream_region_bytes(std::uint64_t lines) {
  return Bytes{3 * array_stride(lines) * stream_line};
}

std::vector<KernelKind> PassesParameters::kinds() {
  return {{.usual = PassesParameters{},
           .traits = {.in_files = false},
           .make = made<PassesKernel>,
           .check_size =
               [](const KernelSpec& spec, Bytes size) {
                 return check_passes_size(spec.as<PassesParameters>().array_lines, size);
               },
           .traffic =
               [](const KernelSpec& spec) {
                 return traffic_of_line(spec.as<PassesParameters>().passes.front(), spec.stores);
               }}};
}

const char* name_of(Persist persist) {
  switch (persist) {
    case Persist::none: return "none";
    case Persist::individual: return "individual";
    case Persist::collective: return "collective";
    case Persist::per_block: return "per-block";
  }
  return "none";
}

}  // namespace numatlas
