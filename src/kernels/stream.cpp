// STREAM's operations (McCalpin, "Memory bandwidth and machine balance in current high performance
// computers", 1995) and plain reads, writes and updates, resumable at any line and checked
// afterwards.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "kernels/filling.h"
#include "kernels/kind.h"

namespace numatlas {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t line_words = line_bytes / sizeof(double);
// Lines between the starts of two arrays, modulo a page: arrays that lie on the same offset within
// their pages make the core take a load for one that needs a store's result (4 KiB aliasing).
constexpr std::size_t lines_per_page = 4096 / line_bytes;
constexpr std::size_t skew_lines = 8;
// Smaller arrays are not skewed: what is left out for it is up to a page an array.
constexpr std::size_t least_skewed = 64 * lines_per_page;

struct Kind {
  const char* name;
  Operation operation;
  std::size_t arrays;
  std::size_t reads;  ///< lines a step
  bool writes;
  bool allocates;  ///< writes lines that it has not read
};
constexpr std::array<Kind, 7> kinds{{{"read", Operation::read, 1, 1, false, false},
                                     {"write", Operation::write, 1, 0, true, true},
                                     {"copy", Operation::copy, 2, 1, true, true},
                                     {"scale", Operation::scale, 2, 1, true, true},
                                     {"add", Operation::add, 3, 2, true, true},
                                     {"triad", Operation::triad, 3, 2, true, true},
                                     {"update", Operation::update, 1, 1, true, false}}};

const Kind& loop_kind(Operation operation) {
  return *std::ranges::find_if(kinds,
                               [&](const Kind& kind) { return operation == kind.operation; });
}

Expected<void> check_loop_size(const KernelSpec& spec, Bytes size) {
  const Kind& kind = loop_kind(spec.as<LoopParameters>().operation);
  if (size.value >= kind.arrays * line_bytes) return {};
  return fail_usage(
      "--size",
      kind.arrays == 1
          ? fmt::format("{} are less than a cache line", to_text(size))
          : fmt::format("{} are too small for one cache line of each of the {} arrays of {}",
                        to_text(size), kind.arrays, kind.name));
}

Expected<void> check_mix_size(const KernelSpec& spec, Bytes size) {
  const auto [reads, writes] = spec.as<MixParameters>();
  if (size.value >= std::size_t{reads + writes} * line_bytes) return {};
  return fail_usage("--size", fmt::format("{} are too small for one step of {}:{} lines",
                                          to_text(size), reads, writes));
}

/// Lines of each of `arrays` arrays within this many lines.
std::size_t lines_per_array(std::size_t lines, std::size_t arrays) {
  const std::size_t most = lines / arrays;
  if (arrays == 1 || most < least_skewed) return most;
  const std::size_t skewed = most - most % lines_per_page + skew_lines;
  return skewed <= most ? skewed : skewed - lines_per_page;
}

// Small integers, so that every result is exact, in whatever order it is computed; and such that a
// line in the wrong place shows.
constexpr std::uint32_t pattern_length =
    65'521;  // a prime: no power of two hides a shift by itself
constexpr double factor = 3;
constexpr double untouched = -1;

// Words by their number modulo pattern_length. No division, so that compilers vectorise the loops.
double source_word(std::uint32_t phase) { return static_cast<std::int32_t>(phase); }
double other_word(std::uint32_t phase) {
  std::uint32_t value = phase * 3 + 1;
  for (int wraps = 0; wraps < 3; ++wraps) value -= value >= pattern_length ? pattern_length : 0;
  return static_cast<std::int32_t>(value);
}

template <Operation operation>
double target_word(std::uint32_t phase) {
  switch (operation) {
    case Operation::read:
    case Operation::copy:
    case Operation::update: return source_word(phase);
    case Operation::write: return factor;
    case Operation::scale: return factor * source_word(phase);
    case Operation::add: return source_word(phase) + other_word(phase);
    case Operation::triad: return source_word(phase) + factor * other_word(phase);
    case Operation::mix: break;  // a kernel of its own
  }
  return 0;
}

/// Calls `stretch(first word, words, phase of the first)` for stretches of [word, end) in which the
/// pattern does not begin anew.
template <class Stretch>
void by_pattern(std::size_t word, std::size_t end, const Stretch& stretch) {
  while (word < end) {
    const auto phase = static_cast<std::uint32_t>(word % pattern_length);
    const std::size_t words = std::min<std::size_t>(end - word, pattern_length - phase);
    stretch(word, words, phase);
    word += words;
  }
}

/// A word that is not what it should be.
struct WrongWord {
  std::size_t word = 0;
  double found = 0, expected = 0;
};

/// Sum of the words' bits in [word, end) of `memory`. Says in `wrong` which is the first that
/// differs from `expected(phase)`.
template <class Expect>
std::uint64_t look_at(const double* memory, std::size_t word, std::size_t end,
                      const Expect& expected, std::optional<WrongWord>& wrong) {
  std::uint64_t sum = 0;
  by_pattern(word, end, [&](std::size_t first, std::size_t words, std::uint32_t phase) {
    std::uint64_t differ = 0;
    const double* const found = memory + first;
    for (std::uint32_t i = 0; i < words; ++i) {
      differ |= std::bit_cast<std::uint64_t>(found[i]) ^
                std::bit_cast<std::uint64_t>(expected(phase + i));
      sum += std::bit_cast<std::uint64_t>(found[i]);
    }
    if (differ == 0 || wrong) return;
    std::uint32_t i = 0;
    while (std::bit_cast<std::uint64_t>(found[i]) ==
           std::bit_cast<std::uint64_t>(expected(phase + i)))
      ++i;
    wrong = WrongWord{first + i, found[i], expected(phase + i)};
  });
  return sum;
}

/// A walk round the lines of some arrays, in pieces.
class Cursor {
 public:
  explicit Cursor(std::size_t lines = 0) : lines_(lines) {}

  /// Calls `piece(first line, lines)` for the next `steps` lines.
  template <class Piece>
  void advance(std::uint64_t steps, const Piece& piece) {
    while (steps > 0) {
      const std::size_t here = std::min<std::uint64_t>(steps, lines_ - position_);
      piece(position_, here);
      steps -= here;
      position_ += here;
      if (position_ == lines_) {
        position_ = 0;
        ++passes_;
      }
    }
  }
  std::size_t lines() const { return lines_; }
  std::uint64_t passes() const { return passes_; }
  /// The next line. Those before it were visited once more than there were passes.
  std::size_t position() const { return position_; }

 private:
  std::size_t lines_;
  std::size_t position_ = 0;
  std::uint64_t passes_ = 0;
};

tl::unexpected<Error> wrong_word(const char* kernel, const WrongWord& wrong) {
  return fail(ErrorKind::internal, fmt::format("kernel {}: word {} is {} instead of {}", kernel,
                                               wrong.word, wrong.found, wrong.expected));
}

Expected<void> wrong_sum(const char* kernel) {
  return fail(ErrorKind::internal,
              fmt::format("kernel {}: the sum of what was read is not that of the memory", kernel));
}

Expected<void> check_stores(const char* kernel, Stores stores) {
  if (stores == Stores::regular || has_non_temporal_stores()) return {};
  return fail(ErrorKind::unavailable,
              fmt::format("kernel {}: {} has no non-temporal stores", kernel, instruction_set()),
              "use --stores regular");
}

class StreamKernel final : public Kernel {
 public:
  explicit StreamKernel(const KernelSpec& spec)
      : kind_(loop_kind(spec.as<LoopParameters>().operation)), stores_(spec.stores) {}

  Expected<void> prepare(const KernelMemory& memory) override {
    if (kind_.writes) {
      TRY(check_stores(kind_.name, stores_));
    }
    const auto lines = TRY(lay_out(memory));
    cursor_ = Cursor(lines);
    if (memory.filled) return {};
    return fill_in_pieces(lines * line_words, [&](std::size_t word, std::size_t end) {
      by_pattern(word, end, [&](std::size_t first, std::size_t words, std::uint32_t phase) {
        for (std::uint32_t i = 0; i < words; ++i)
          arrays_[0][first + i] = kind_.allocates ? untouched : source_word(phase + i);
        for (std::uint32_t i = 0; kind_.arrays > 1 && i < words; ++i)
          arrays_[1][first + i] = source_word(phase + i);
        for (std::uint32_t i = 0; kind_.arrays > 2 && i < words; ++i)
          arrays_[2][first + i] = other_word(phase + i);
      });
    });
  }

  void run(std::uint64_t steps) override {
    cursor_.advance(steps, [&](std::size_t first, std::size_t lines) {
      const std::size_t at = first * line_words;
      LoopCall call;
      call.operation = kind_.operation;
      call.stores = stores_;
      call.first = arrays_[0] + at;
      if (kind_.arrays > 1) call.second = arrays_[1] + at;
      if (kind_.arrays > 2) call.third = arrays_[2] + at;
      call.value = kind_.operation == Operation::update ? 1.0 : factor;
      call.lines = lines;
      call.width = width_;
      sum_ += run_loop(call);
    });
  }

  std::uint64_t steps_per_pass() const override { return cursor_.lines(); }
  std::vector<Operation> loops() const override { return {kind_.operation}; }
  void use_width(Operation, unsigned bytes) override { width_ = bytes; }

  Expected<void> verify() const override {
    switch (kind_.operation) {
      case Operation::read: return verify_as<Operation::read>();
      case Operation::write: return verify_as<Operation::write>();
      case Operation::copy: return verify_as<Operation::copy>();
      case Operation::scale: return verify_as<Operation::scale>();
      case Operation::add: return verify_as<Operation::add>();
      case Operation::triad: return verify_as<Operation::triad>();
      case Operation::update: return verify_as<Operation::update>();
      case Operation::mix: break;  // a kernel of its own
    }
    return {};
  }

 private:
  template <Operation operation>
  Expected<void> verify_as() const {
    std::optional<WrongWord> wrong;
    std::uint64_t sum = 0;
    // Words that were visited equally often.
    const auto look = [&](std::size_t first, std::size_t end, std::uint64_t visits) {
      if (visits == 0 && kind_.allocates) {
        (void)look_at(
            arrays_[0], first, end, [](std::uint32_t) { return untouched; }, wrong);
        return;
      }
      const double more = operation == Operation::update ? static_cast<double>(visits) : 0;
      sum +=
          visits * look_at(
                       arrays_[0], first, end,
                       [more](std::uint32_t phase) { return target_word<operation>(phase) + more; },
                       wrong);
    };
    const std::size_t turn = cursor_.position() * line_words;
    look(0, turn, cursor_.passes() + 1);
    look(turn, cursor_.lines() * line_words, cursor_.passes());
    if (wrong) return wrong_word(kind_.name, *wrong);
    if (operation == Operation::read && sum != sum_) return wrong_sum(kind_.name);
    return {};
  }

  /// Sets where the arrays start; returns the lines of each.
  Expected<std::size_t> lay_out(const KernelMemory& memory) {
    auto* const target = reinterpret_cast<double*>(memory.data);
    auto* const source = reinterpret_cast<double*>(memory.source);
    if (source == nullptr) {
      TRY(check_loop_size({LoopParameters{kind_.operation}}, Bytes{memory.bytes}));
      const std::size_t lines = lines_per_array(memory.bytes / line_bytes, kind_.arrays);
      for (std::size_t i = 0; i < kind_.arrays; ++i) arrays_[i] = target + i * lines * line_words;
      return lines;
    }
    const std::size_t sources = kind_.arrays - 1;
    if (sources == 0 || memory.bytes < line_bytes || memory.source_bytes < sources * line_bytes) {
      return fail_usage("--size",
                        fmt::format("{} from {} hold no line for {}", to_text(Bytes{memory.bytes}),
                                    to_text(Bytes{memory.source_bytes}), kind_.name));
    }
    const std::size_t apart = lines_per_array(memory.source_bytes / line_bytes, sources);
    arrays_[0] = target;
    for (std::size_t i = 0; i < sources; ++i) arrays_[i + 1] = source + i * apart * line_words;
    return std::min(memory.bytes / line_bytes, apart);
  }

  const Kind& kind_;
  Stores stores_;
  unsigned width_ = 0;
  Cursor cursor_;
  std::array<double*, 3> arrays_{};
  std::uint64_t sum_ = 0;
};

/// Reads and writes by turns, each in its part of the region.
class MixKernel final : public Kernel {
 public:
  explicit MixKernel(const KernelSpec& spec)
      : spec_(spec),
        reads_(spec.as<MixParameters>().reads),
        writes_(spec.as<MixParameters>().writes),
        stores_(spec.stores) {}

  Expected<void> prepare(const KernelMemory& memory) override {
    TRY(check_mix_size(spec_, Bytes{memory.bytes}));
    TRY(check_stores("mix", stores_));
    // So many turns that both parts end together.
    cursor_ = Cursor(memory.bytes / line_bytes / (reads_ + writes_));
    from_ = reinterpret_cast<double*>(memory.data);
    to_ = from_ + read_words();
    const auto sources = [&](std::size_t word, std::size_t end) {
      by_pattern(word, end, [&](std::size_t first, std::size_t words, std::uint32_t phase) {
        for (std::uint32_t i = 0; i < words; ++i) from_[first + i] = source_word(phase + i);
      });
    };
    TRY(fill_in_pieces(read_words(), sources));
    return fill_in_pieces(written_words(), [&](std::size_t first, std::size_t end) {
      std::fill(to_ + first, to_ + end, untouched);
    });
  }

  void run(std::uint64_t steps) override {
    cursor_.advance(steps, [&](std::size_t first, std::size_t turns) {
      LoopCall call;
      call.operation = Operation::mix;
      call.stores = stores_;
      call.first = to_ + first * writes_ * line_words;
      call.second = from_ + first * reads_ * line_words;
      call.value = factor;
      call.lines = turns;
      call.reads = reads_;
      call.writes = writes_;
      call.width = width_;
      sum_ += run_loop(call);
    });
  }

  std::uint64_t steps_per_pass() const override { return cursor_.lines(); }
  std::vector<Operation> loops() const override { return {Operation::mix}; }
  void use_width(Operation, unsigned bytes) override { width_ = bytes; }

  Expected<void> verify() const override {
    const auto constant = [](double value) { return [value](std::uint32_t) { return value; }; };
    std::optional<WrongWord> wrong;
    const std::size_t written = cursor_.position() * writes_ * line_words;
    (void)look_at(to_, 0, written, constant(factor), wrong);
    (void)look_at(to_, written, written_words(),
                  constant(cursor_.passes() > 0 ? factor : untouched), wrong);
    if (wrong) return wrong_word("mix", *wrong);
    const std::size_t read = cursor_.position() * reads_ * line_words;
    const auto source = [](std::uint32_t phase) { return source_word(phase); };
    std::uint64_t sum = (cursor_.passes() + 1) * look_at(from_, 0, read, source, wrong);
    sum += cursor_.passes() * look_at(from_, read, read_words(), source, wrong);
    if (wrong) return wrong_word("mix", *wrong);
    return sum == sum_ ? Expected<void>{} : wrong_sum("mix");
  }

 private:
  std::size_t read_words() const { return cursor_.lines() * reads_ * line_words; }
  std::size_t written_words() const { return cursor_.lines() * writes_ * line_words; }

  KernelSpec spec_;
  unsigned reads_, writes_;
  Stores stores_;
  unsigned width_ = 0;
  Cursor cursor_;
  double* from_ = nullptr;
  double* to_ = nullptr;
  std::uint64_t sum_ = 0;
};

}  // namespace

const char* name_of(Operation operation) {
  for (const Kind& kind : kinds) {
    if (kind.operation == operation) return kind.name;
  }
  return "mix";
}

Traffic traffic_of_line(Operation operation, Stores stores) {
  const Kind& kind = loop_kind(operation);
  const bool fetches = kind.allocates && stores == Stores::regular;
  return {kind.reads * line_bytes, kind.writes ? line_bytes : 0, fetches ? line_bytes : 0};
}

Expected<MixParameters> parse_mix(std::string_view text) {
  // Beyond this a step is longer than a page, and the two streams hardly meet.
  constexpr unsigned most = 64;
  const auto part = [](std::string_view digits) {
    unsigned value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return code == std::errc{} && end == digits.data() + digits.size() && value <= most ? value : 0;
  };
  const std::size_t colon = std::min(text.find(':'), text.size());
  const unsigned reads = part(text.substr(0, colon));
  const unsigned writes = colon < text.size() ? part(text.substr(colon + 1)) : 0;
  if (reads == 0 || writes == 0) {
    return fail_usage("--mix", fmt::format("'{}' is not READS:WRITES", text),
                      fmt::format("such as 2:1, each from 1 to {}", most));
  }
  return MixParameters{reads, writes};
}

std::vector<KernelKind> LoopParameters::kinds() {
  std::vector<KernelKind> all;
  for (const Kind& kind : numatlas::kinds) {
    all.push_back({.usual = LoopParameters{kind.operation},
                   .traits = {.reads = kind.reads > 0,
                              .writes = kind.writes,
                              .in_place = kind.writes && !kind.allocates,
                              .takes_source = kind.arrays > 1},
                   .make = made<StreamKernel>,
                   .check_size = check_loop_size,
                   .traffic = [](const KernelSpec& spec) {
                     return traffic_of_line(spec.as<LoopParameters>().operation, spec.stores);
                   }});
  }
  return all;
}

std::vector<KernelKind> MixParameters::kinds() {
  return {{.usual = MixParameters{},
           .make = made<MixKernel>,
           .check_size = check_mix_size,
           .traffic = [](const KernelSpec& spec) -> Traffic {
             const auto [reads, writes] = spec.as<MixParameters>();
             const bool fetches = spec.stores == Stores::regular;
             return {reads * line_bytes, writes * line_bytes, fetches ? writes * line_bytes : 0};
           }}};
}

}  // namespace numatlas
