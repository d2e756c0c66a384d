// The loops over lines, resumable at any line and checked afterwards: an operation over and over,
// or STREAM as McCalpin wrote it (https://www.cs.virginia.edu/stream/), whole passes over three
// arrays, one operation after the other.
#include "kernels/stream.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/contents.h"
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
// Persisted while it still lies in the second-level cache.
constexpr std::size_t block_lines = 64 * kib / line_bytes;

struct Kind {
  const char* name;
  Operation operation;
  std::size_t arrays;
  std::size_t reads;  ///< lines a step; the mix has a number of its own
  bool writes;
  bool allocates;  ///< writes lines that it has not read
};
constexpr std::array<Kind, 8> kinds{{{"read", Operation::read, 1, 1, false, false},
                                     {"write", Operation::write, 1, 0, true, true},
                                     {"copy", Operation::copy, 2, 1, true, true},
                                     {"scale", Operation::scale, 2, 1, true, true},
                                     {"add", Operation::add, 3, 2, true, true},
                                     {"triad", Operation::triad, 3, 2, true, true},
                                     {"update", Operation::update, 1, 1, true, false},
                                     {"mix", Operation::mix, 2, 0, true, true}}};

const Kind& loop_kind(Operation operation) {
  return *std::ranges::find(kinds, operation, &Kind::operation);
}

/// Lines of each of `arrays` arrays within this many lines.
std::size_t lines_per_array(std::size_t lines, std::size_t arrays) {
  const std::size_t most = lines / arrays;
  if (arrays == 1 || most < least_skewed) return most;
  const std::size_t skewed = most - most % lines_per_page + skew_lines;
  return skewed <= most ? skewed : skewed - lines_per_page;
}

/// Lines from the start of one array to the start of the next, where their number is given.
std::size_t lines_apart(std::uint64_t lines) {
  return (lines + lines_per_page - 1) / lines_per_page * lines_per_page + skew_lines;
}

constexpr double factor = 3;         // of scale and triad that are repeated
constexpr double written_value = 3;  // by write and mix

/// A walk round the lines of some arrays, in pieces.
class Cursor {
 public:
  explicit Cursor(std::size_t lines = 0) : lines_(lines) {}

  /// Calls `piece(first line, lines, again)` for the next `steps` lines, at most `most` at a time,
  /// of which all are read `again` times more: whole passes, where the kernel repeats them.
  template <class Piece>
  void advance(std::uint64_t steps, std::size_t most, bool repeats, const Piece& piece) {
    while (steps > 0) {
      const std::size_t here = std::min<std::uint64_t>({steps, lines_ - position_, most});
      const std::uint64_t again = repeats && here == lines_ ? steps / lines_ - 1 : 0;
      piece(position_, here, again);
      steps -= (again + 1) * here;
      position_ += here;
      passes_ += again;
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

Expected<void> check_stores(const char* kernel, Stores stores) {
  if (stores == Stores::regular || has_non_temporal_stores()) return {};
  return fail(ErrorKind::unavailable,
              fmt::format("kernel {}: {} has no non-temporal stores", kernel, instruction_set()),
              "use --stores regular");
}

/// A pass: an operation, and which arrays it has.
struct Pass {
  Operation operation;
  std::size_t first = 0, second = 1, third = 2;
};

/// As STREAM has it in a, b and c.
Pass pass_of_stream(Operation operation) {
  switch (operation) {
    case Operation::copy: return {operation, 2, 0};
    case Operation::scale: return {operation, 1, 2};
    case Operation::add: return {operation, 2, 0, 1};
    default: return {operation};
  }
}

/// The scalar for which these passes, in STREAM's order, change the arrays by no factor from round
/// to round, so that any number of rounds stays within a double's range. For all four it is
/// sqrt(2) - 1; STREAM's own 3 overflows after 260 rounds. Where an operation is left out the
/// arrays stay within bounds with that too, but for two selections.
double scalar_of(const std::vector<Operation>& passes) {
  using enum Operation;
  if (passes == std::vector{scale, add, triad}) return 1.0 / 3;  // c = a + s c, a = 2 s c
  if (passes == std::vector{copy, scale, triad}) return 0.5;     // c = a, a = 2 s c
  return std::numbers::sqrt2 - 1;
}

std::size_t arrays_of(const KernelSpec& spec) {
  const auto* const loop = spec.find<LoopParameters>();
  if (loop != nullptr) return loop_kind(loop->operation).arrays;
  return spec.find<MixParameters>() != nullptr ? 2 : 3;
}

Expected<void> check_loops_size(const KernelSpec& spec, Bytes size) {
  if (const auto* const mix = spec.find<MixParameters>()) {
    if (size.value >= std::size_t{mix->reads + mix->writes} * line_bytes) return {};
    return fail_usage("--size", fmt::format("{} are too small for one step of {} lines",
                                            to_text(size), mix_text(spec)));
  }
  const auto* const stream = spec.find<PassesParameters>();
  const std::size_t arrays = arrays_of(spec);
  const Bytes least = stream != nullptr && stream->array_lines > 0
                          ? stream_region_bytes(stream->array_lines)
                          : Bytes{arrays * line_bytes};
  if (size >= least) return {};
  return fail_usage(
      "--size",
      arrays == 1
          ? fmt::format("{} are less than a cache line", to_text(size))
          : fmt::format("{} are too small for one cache line of each of the {} arrays of {}",
                        to_text(size), arrays, stream != nullptr ? "STREAM" : name_of(spec)));
}

/// A step of a mix is a turn: some lines of an array that is read, and some of one that is written.
class LoopsKernel final : public Kernel {
 public:
  explicit LoopsKernel(const KernelSpec& spec)
      : spec_(spec), name_(name_of(spec)), arrays_used_(arrays_of(spec)) {
    if (const auto* const stream = spec.find<PassesParameters>()) {
      for (const Operation one : stream->passes) passes_.push_back(pass_of_stream(one));
      scalar_ = scalar_of(stream->passes);
      contents_ = {Content{1}, Content{2}, Content{0}};
      persist_ = stream->persist;
      array_lines_ = stream->array_lines;
      return;
    }
    const auto* const mix = spec.find<MixParameters>();
    if (mix != nullptr) lines_a_step_ = {mix->writes, mix->reads, 0};
    passes_ = {{mix != nullptr ? Operation::mix : spec.as<LoopParameters>().operation}};
    const bool fetches = loop_kind(passes_.front().operation).allocates;
    contents_ = {fetches ? untouched : Content{1}, Content{1}, Content{2}};
  }

  Expected<void> prepare(const KernelMemory& memory) override {
    if (std::ranges::any_of(passes_, [](auto& pass) { return loop_kind(pass.operation).writes; })) {
      TRY(check_stores(name_.c_str(), spec_.stores));
    }
    make_last_ = memory.persist;
    if (!make_last_) persist_ = Persist::none;
    piece_lines_ = persist_ == Persist::per_block ? block_lines : SIZE_MAX;
    const auto lines = TRY(lay_out(memory));
    cursor_ = Cursor(lines);
    if (memory.filled) return {};
    // What lies between arrays too, so that no page is left that is nowhere.
    if (array_lines_ > 0) {
      for (double* const array : arrays_)
        std::fill(array + lines * line_words, array + lines_apart(lines) * line_words, 0.0);
    }
    for (std::size_t i = 0; i < arrays_used_; ++i) {
      TRY(fill_in_pieces(words(i, lines), [&](std::size_t word, std::size_t end) {
        fill(arrays_[i], word, end, contents_[i]);
      }));
    }
    return {};
  }

  void run(std::uint64_t steps) override {
    const auto piece = [&](std::size_t first, std::size_t lines, std::uint64_t again) {
      const Pass& pass = pass_after(cursor_.passes());
      LoopCall call = call_of(pass, first, lines);
      call.again = again;
      sum_ += run_loop(call);
      only_loaded_ += again;
      if (persist_ == Persist::per_block) last(pass, first, lines);
      if (persist_ == Persist::individual && first + lines == cursor_.lines())
        last(pass, 0, cursor_.lines());
    };
    cursor_.advance(steps, piece_lines_, all_are(Operation::read), piece);
  }

  bool persists_together() const override { return persist_ == Persist::collective; }
  void persist() override {
    if (cursor_.passes() > 0) last(pass_after(cursor_.passes() - 1), 0, cursor_.lines());
  }

  std::uint64_t steps_per_pass() const override { return cursor_.lines(); }
  std::vector<Operation> loops() const override {
    std::vector<Operation> loops;
    for (const Pass& pass : passes_) loops.push_back(pass.operation);
    return loops;
  }
  void use_width(Operation operation, unsigned bytes) override {
    widths_[static_cast<std::size_t>(operation)] = bytes;
  }

  Expected<void> verify() const override {
    if (not_lasting_) return fail(*not_lasting_);
    const bool stream = spec_.find<PassesParameters>() != nullptr;
    Look look{name_.c_str()};
    // STREAM's own bound of the relative error, and a rounding a pass on top. What is repeated is
    // exact.
    if (stream) look.tolerance = 1e-13 + static_cast<double>(cursor_.passes()) * 0x1p-52;
    const std::uint64_t passes = cursor_.passes();
    const auto before = contents_after(passes), after = contents_after(passes + 1);
    const bool mixes = all_are(Operation::mix);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < (stream || mixes ? arrays_used_ : 1); ++i) {
      const std::size_t turn = words(i, cursor_.position()), end = words(i, cursor_.lines());
      const std::uint64_t visited = look.at("abc"[i], arrays_[i], 0, turn, after[i]);
      const std::uint64_t rest = look.at("abc"[i], arrays_[i], turn, end, before[i]);
      // Of an array that never changes.
      const std::uint64_t added = passes - only_loaded_;
      if (i == (mixes ? 1 : 0)) sum = (added + 1) * visited + added * rest;
    }
    return look.result(!(mixes || all_are(Operation::read)) || sum == sum_);
  }

 private:
  using Contents = std::array<Content, 3>;

  /// Of an array, in so many steps.
  std::size_t words(std::size_t array, std::size_t steps) const {
    return steps * lines_a_step_[array] * line_words;
  }

  bool all_are(Operation operation) const {
    return std::ranges::all_of(passes_, [&](auto& pass) { return pass.operation == operation; });
  }

  const Pass& pass_after(std::uint64_t passes) const {
    return passes_[passes_.size() == 1 ? 0 : passes % passes_.size()];
  }

  /// What `times` times the same pass leave: more than one changes nothing, but for updates.
  void apply(const Pass& pass, std::uint64_t times, Contents& contents) const {
    const Content second = contents[pass.second], third = contents[pass.third];
    const auto sum_with = [&](double scalar) -> Content {
      return {second.multiple + scalar * third.multiple, second.constant + scalar * third.constant};
    };
    Content& target = contents[pass.first];
    switch (pass.operation) {
      case Operation::write:
      case Operation::mix: target = {0, written_value}; break;
      case Operation::copy: target = second; break;
      case Operation::scale: target = {scalar_ * second.multiple, scalar_ * second.constant}; break;
      case Operation::add: target = sum_with(1); break;
      case Operation::triad: target = sum_with(scalar_); break;
      case Operation::update: target.constant += static_cast<double>(times); break;
      case Operation::read: break;
    }
  }

  Contents contents_after(std::uint64_t passes) const {
    Contents contents = contents_;
    if (passes_.size() == 1 && passes > 0) apply(passes_.front(), passes, contents);
    for (std::uint64_t i = 0; passes_.size() > 1 && i < passes; ++i)
      apply(pass_after(i), 1, contents);
    return contents;
  }

  LoopCall call_of(const Pass& pass, std::size_t step, std::size_t steps) const {
    const bool writes = pass.operation == Operation::write || pass.operation == Operation::mix;
    LoopCall call;
    call.operation = pass.operation;
    call.stores = spec_.stores;
    call.first = arrays_[pass.first] + words(pass.first, step);
    call.second = arrays_[pass.second] + words(pass.second, step);
    call.third = arrays_[pass.third] + words(pass.third, step);
    call.value = writes ? written_value : pass.operation == Operation::update ? 1 : scalar_;
    call.lines = steps;
    call.reads = lines_a_step_[1];
    call.writes = lines_a_step_[0];
    call.width = widths_[static_cast<std::size_t>(pass.operation)];
    return call;
  }

  /// Makes lines that a pass has written last.
  void last(const Pass& pass, std::size_t line, std::size_t lines) {
    if (pass.operation == Operation::read) return;
    const auto done = make_last_(arrays_[pass.first] + line * line_words, lines * line_bytes);
    if (!done && !not_lasting_) not_lasting_ = done.error();
  }

  /// Sets where the arrays start; returns the lines of each.
  Expected<std::size_t> lay_out(const KernelMemory& memory) {
    auto* const target = reinterpret_cast<double*>(memory.data);
    auto* const source = reinterpret_cast<double*>(memory.source);
    arrays_.fill(target);
    if (source == nullptr) {
      TRY(check_loops_size(spec_, Bytes{memory.bytes}));
      if (spec_.find<MixParameters>() != nullptr) {
        // So many turns that both parts end together.
        const std::size_t turns = memory.bytes / line_bytes / (lines_a_step_[0] + lines_a_step_[1]);
        arrays_[0] += words(1, turns);
        return turns;
      }
      const bool fits = array_lines_ == 0;
      const std::size_t lines =
          fits ? lines_per_array(memory.bytes / line_bytes, arrays_used_) : array_lines_;
      const std::size_t apart = fits ? lines : lines_apart(lines);
      for (std::size_t i = 0; i < arrays_used_; ++i) arrays_[i] += i * apart * line_words;
      return lines;
    }
    const std::size_t sources = arrays_used_ - 1;
    if (sources == 0 || memory.bytes < line_bytes || memory.source_bytes < sources * line_bytes) {
      return fail_usage("--size",
                        fmt::format("{} from {} hold no line for {}", to_text(Bytes{memory.bytes}),
                                    to_text(Bytes{memory.source_bytes}), name_));
    }
    const std::size_t apart = lines_per_array(memory.source_bytes / line_bytes, sources);
    for (std::size_t i = 0; i < sources; ++i) arrays_[i + 1] = source + i * apart * line_words;
    return std::min(memory.bytes / line_bytes, apart);
  }

  KernelSpec spec_;
  std::string name_;
  std::size_t arrays_used_;
  std::vector<Pass> passes_;
  double scalar_ = factor;
  std::array<unsigned, 3> lines_a_step_{1, 1, 1};  ///< of each array
  Contents contents_{};                            ///< before the first pass
  Persist persist_ = Persist::none;
  std::uint64_t array_lines_ = 0;  ///< 0: as many as fit
  std::function<Expected<void>(const void*, std::size_t)> make_last_;
  std::optional<Error> not_lasting_;    ///< the first that could not be made to last
  std::array<unsigned, 8> widths_{};    ///< by operation
  std::size_t piece_lines_ = SIZE_MAX;  ///< at most, at a time
  Cursor cursor_;
  std::array<double*, 3> arrays_{};
  std::uint64_t sum_ = 0;          ///< of what was read
  std::uint64_t only_loaded_ = 0;  ///< passes that did not add to it
};

Traffic traffic_of_loops(const KernelSpec& spec) {
  if (const auto* const mix = spec.find<MixParameters>()) {
    const std::size_t written = mix->writes * line_bytes;
    return {mix->reads * line_bytes, written, spec.stores == Stores::regular ? written : 0};
  }
  const auto* const stream = spec.find<PassesParameters>();
  return traffic_of_line(
      stream != nullptr ? stream->passes.front() : spec.as<LoopParameters>().operation,
      spec.stores);
}

KernelKind kind_of_loops(KernelParameters usual, const KernelTraits& traits) {
  return {.usual = std::move(usual),
          .traits = traits,
          .make = made<LoopsKernel>,
          .check_size = check_loops_size,
          .traffic = traffic_of_loops};
}

}  // namespace

const char* name_of(Operation operation) { return loop_kind(operation).name; }

const char* name_of(Persist persist) {
  switch (persist) {
    case Persist::none: return "none";
    case Persist::individual: return "individual";
    case Persist::collective: return "collective";
    case Persist::per_block: return "per-block";
  }
  return "none";
}

Bytes stream_region_bytes(std::uint64_t lines) {
  return Bytes{3 * lines_apart(lines) * line_bytes};
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
    return fail(ErrorKind::usage, fmt::format("'{}' is not READS:WRITES", text),
                fmt::format("such as 2:1, each from 1 to {}", most));
  }
  return MixParameters{reads, writes};
}

std::vector<KernelKind> LoopParameters::kinds() {
  std::vector<KernelKind> all;
  for (const Kind& kind : numatlas::kinds) {
    if (kind.operation == Operation::mix) continue;
    all.push_back(
        kind_of_loops(LoopParameters{kind.operation}, {.reads = kind.reads > 0,
                                                       .writes = kind.writes,
                                                       .in_place = kind.writes && !kind.allocates,
                                                       .takes_source = kind.arrays > 1}));
  }
  return all;
}

std::vector<KernelKind> PassesParameters::kinds() {
  return {kind_of_loops(PassesParameters{}, {.in_files = false})};
}

std::vector<KernelKind> MixParameters::kinds() { return {kind_of_loops(MixParameters{}, {})}; }

}  // namespace numatlas
