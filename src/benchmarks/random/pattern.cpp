#include "benchmarks/random/pattern.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/read_file.h"
#include "base/whole.h"
#include "run/declare.h"

namespace numatlas::benchmark_random {
namespace {

using Indices = std::vector<std::uint64_t>;

// More indices than these would take a cache for themselves.
constexpr std::uint64_t most_indices = std::uint64_t{1} << 20;
// Sums and products of a few fields stay below 2^64.
constexpr std::uint64_t most_field = std::uint64_t{1} << 20, most_index = std::uint64_t{1} << 40;

auto wrong(const std::string& what, const std::string& hint) {
  return fail_usage("--pattern", what, hint);
}

Expected<Indices> numbers_of(const std::string& list, std::uint64_t low, std::uint64_t high) {
  Indices numbers;
  for (const std::string& word : words_of(list)) {
    if (word.empty()) continue;
    numbers.push_back(TRY(parse_whole(word, low, high, "--pattern")));
  }
  return numbers;
}

/// Ascending by one, but for gaps: the index at each break is so much above the one before.
Expected<Indices> ms1(std::uint64_t count, const Indices& breaks, Indices gaps) {
  if (gaps.size() == 1) gaps.resize(breaks.size(), gaps.front());
  if (gaps.size() != breaks.size())
    return wrong(fmt::format("{} breaks have {} gaps", breaks.size(), gaps.size()),
                 "give as many gaps as breaks, or one for all: ms1:8:2,3:20,22");
  Indices sorted = breaks;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end())
    return wrong(fmt::format("the break at {} stands twice", *twice), "name each break once");
  for (const std::uint64_t at : breaks)
    if (at >= count)
      return wrong(fmt::format("a break at {} is outside {} indices", at, count),
                   "breaks are less than the number of indices: ms1:8:4:20");
  Indices indices{0};
  for (std::uint64_t i = 1; i < count; ++i) {
    const auto found = std::ranges::find(breaks, i);
    const std::uint64_t step =
        found == breaks.end() ? 1 : gaps[static_cast<std::size_t>(found - breaks.begin())];
    indices.push_back(indices.back() + step);
  }
  return indices;
}

/// A stencil on a grid that is `size` wide in each of its dimensions: the centre, and `length`
/// points on both sides of it in each dimension.
Expected<Indices> laplacian(std::uint64_t dimensions, std::uint64_t length, std::uint64_t size) {
  if (dimensions > 1 && size <= length)
    return wrong(
        fmt::format("a grid {} wide does not hold a stencil of {} on each side", size, length),
        "SIZE is more than L: laplacian:2:1:100");
  Indices apart{1};  // neighbours in each dimension
  while (apart.size() < dimensions && apart.back() <= most_index / size)
    apart.push_back(apart.back() * size);
  if (apart.size() < dimensions || apart.back() > most_index / (2 * length) ||
      dimensions * length > most_indices / 4)
    return wrong("this stencil is too large", "use fewer dimensions or a smaller SIZE");
  const std::uint64_t centre = length * apart.back();
  Indices indices{centre};
  for (const std::uint64_t step : apart) {
    for (std::uint64_t i = 1; i <= length; ++i) {
      indices.push_back(centre - i * step);
      indices.push_back(centre + i * step);
    }
  }
  std::ranges::sort(indices);
  return indices;
}

/// Moves on to what its indices have not moved yet.
PatternParameters pattern_of(Indices indices) {
  PatternParameters pattern;
  pattern.indices = std::move(indices);
  pattern.delta = pattern.largest_index() + 1;
  return pattern;
}

/// A pattern of this form, split at its colons.
Expected<PatternParameters> pattern_of(const std::string& form,
                                       const std::vector<std::string>& fields) {
  const bool is_ms1 = fields[0] == "ms1";
  std::vector<Indices> numbers;
  for (std::size_t i = 1; i < fields.size(); ++i) {
    numbers.push_back(TRY(numbers_of(fields[i], 1, most_field)));
    const bool several = is_ms1 && i > 1;
    if (numbers.back().empty() || (numbers.back().size() > 1 && !several))
      return wrong(fmt::format("'{}' is not one number", fields[i]), "the form is " + form);
  }
  const std::uint64_t first = numbers[0].front(), second = numbers[1].front();
  if (is_ms1) return pattern_of(TRY(ms1(first, numbers[1], numbers[2])));
  PatternParameters pattern;
  if (fields[0] == "laplacian") {
    pattern.indices = TRY(laplacian(first, second, numbers[2].front()));
    pattern.delta = 1;  // a stencil moves on by a point
    return pattern;
  }
  pattern.indices.clear();
  for (std::uint64_t i = 0; i < first; ++i) pattern.indices.push_back(i * second);
  pattern.delta = first * second;
  return pattern;
}

Expected<Indices> indices_in(const std::string& file) {
  const auto text = read_file(file, "", "");
  if (!text)
    return wrong(fmt::format("'{}' is neither a pattern nor a file that can be read", file),
                 std::string("choose ") + pattern_forms);
  Indices indices;
  std::size_t line = 0;
  for (const std::string& list : words_of(*text, '\n')) {
    ++line;
    const auto numbers = numbers_of(list, 0, most_index);
    if (!numbers)
      return wrong(fmt::format("{}, line {}: {}", file, line, numbers.error().message),
                   "indices stand one per line or are separated by commas");
    indices.insert(indices.end(), numbers->begin(), numbers->end());
  }
  if (indices.empty() || indices.size() > most_indices)
    return wrong(fmt::format("{} has {} indices", file, indices.size()),
                 fmt::format("from 1 to {} can be used", most_indices));
  return indices;
}

}  // namespace

Expected<PatternParameters> parse_pattern(const std::string& text) {
  static const std::map<std::string, std::string> forms{{"uniform", "uniform:N:STRIDE"},
                                                        {"ms1", "ms1:N:BREAKS:GAPS"},
                                                        {"laplacian", "laplacian:D:L:SIZE"}};
  const std::vector<std::string> fields = words_of(text, ':');
  const auto form = forms.find(fields.front());
  if (form == forms.end()) return pattern_of(TRY(indices_in(text)));
  if (fields.size() != words_of(form->second, ':').size())
    return wrong(fmt::format("'{}' is not {}", text, form->second), "");
  return pattern_of(form->second, fields);
}

}  // namespace numatlas::benchmark_random
