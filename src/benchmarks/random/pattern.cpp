#include "benchmarks/random/pattern.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/read_file.h"
#include "base/text.h"
#include "base/whole.h"
#include "run/declare.h"

namespace numatlas::benchmark_random {
namespace {

using Indices = std::vector<std::uint64_t>;

constexpr const char* no_reuse = "nr";  // as Spatter has it: each start behind what was used

// More indices than these would take a cache for themselves.
constexpr std::uint64_t most_indices = std::uint64_t{1} << 20;
// Sums and products of a few fields stay below 2^64.
constexpr std::uint64_t most_field = std::uint64_t{1} << 20, most_index = std::uint64_t{1} << 40;

std::string in_small(std::string word) {
  std::ranges::transform(word, word.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

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

/// A pattern of this form, split at its colons, with what comes last where that is its delta.
Expected<PatternParameters> pattern_of(const std::string& form, std::vector<std::string> fields,
                                       const std::string& last) {
  const bool is_ms1 = fields[0] == "ms1";
  std::vector<Indices> numbers;
  for (std::size_t i = 1; i < fields.size(); ++i) {
    numbers.push_back(TRY(numbers_of(fields[i], 1, most_field)));
    const bool several = is_ms1 && i > 1;
    if (numbers.back().empty() || (numbers.back().size() > 1 && !several))
      return wrong(fmt::format("'{}' is not one number", fields[i]), "the form is " + form);
  }
  const std::uint64_t first = numbers[0].front(), second = numbers[1].front();
  PatternParameters pattern;
  if (is_ms1) {
    pattern = pattern_of(TRY(ms1(first, numbers[1], numbers[2])));
  } else if (fields[0] == "laplacian") {
    pattern = pattern_of(TRY(laplacian(first, second, numbers[2].front())));
    if (last.empty()) pattern.delta = 1;  // a stencil moves on by a point
  } else {
    pattern.indices.clear();
    for (std::uint64_t i = 0; i < first; ++i) pattern.indices.push_back(i * second);
    pattern.delta = first * second;
  }
  if (!last.empty() && last != no_reuse)
    pattern.delta = TRY(parse_whole(last, std::uint64_t{1}, most_index, "--pattern"));
  return pattern;
}

struct ByWord {
  PatternParameters pattern;
  bool tells_delta;
};
/// By one of Spatter's words; nothing for any other text.
Expected<std::optional<ByWord>> pattern_by_word(const std::string& text) {
  static const std::map<std::string, std::string> forms{{"uniform", "uniform:N:STRIDE"},
                                                        {"ms1", "ms1:N:BREAKS:GAPS"},
                                                        {"laplacian", "laplacian:D:L:SIZE"}};
  std::vector<std::string> fields = words_of(in_small(text), ':');
  const auto form = forms.find(fields.front());
  if (form == forms.end()) return std::nullopt;
  const std::size_t count = words_of(form->second, ':').size();
  std::string last;
  if (fields.size() == count + 1) {
    last = fields.back();
    fields.pop_back();
    if (last.empty()) fields.clear();
  }
  if (fields.size() != count)
    return wrong(fmt::format("'{}' is not {}", text, form->second),
                 "a delta, or NR for the pattern's length, may come last");
  return ByWord{TRY(pattern_of(form->second, std::move(fields), last)), !last.empty()};
}

Expected<Indices> checked(Indices indices, const std::string& name) {
  if (indices.empty() || indices.size() > most_indices)
    return wrong(fmt::format("{} has {} indices", name, indices.size()),
                 fmt::format("from 1 to {} can be used", most_indices));
  return indices;
}

Expected<Indices> indices_in(const std::string& file, const std::string& text) {
  Indices indices;
  std::size_t line = 0;
  for (const std::string& list : words_of(text, '\n')) {
    ++line;
    const auto numbers = numbers_of(list, 0, most_index);
    if (!numbers)
      return wrong(fmt::format("{}, line {}: {}", file, line, numbers.error().message),
                   "indices stand one per line or are separated by commas");
    indices.insert(indices.end(), numbers->begin(), numbers->end());
  }
  return checked(std::move(indices), file);
}

/// One object of Spatter's JSON: {"kernel": "Gather", "pattern": "UNIFORM:8:1:NR", "delta": 8}.
/// How often it is done ("count") follows from --time here.
Expected<NamedPattern> read_spatter(const nlohmann::json& object, const std::string& name) {
  const auto refuse = [&](const std::string& what, const std::string& hint) {
    return wrong(fmt::format("{}: {}", name, what), hint);
  };
  if (!object.is_object()) return refuse("is no object", "Spatter's JSON is a list of objects");
  NamedPattern found;
  found.name = name;
  const auto text_at = [&](const char* key, const char* usual) {
    const auto value = object.find(key);
    return value != object.end() && value->is_string() ? value->get<std::string>() : usual;
  };
  const std::string kernel = text_at("kernel", "gather");
  if (in_small(kernel) == "gather") found.access = Access::gather;
  if (in_small(kernel) == "scatter") found.access = Access::scatter;
  if (!found.access)
    return refuse(fmt::format("kernel '{}' is neither Gather nor Scatter", kernel),
                  "leave it out of the file");
  constexpr std::uint64_t spatters_delta = 8;
  if (const std::string word = text_at("pattern", ""); !word.empty()) {
    const auto by_word = TRY(pattern_by_word(word));
    if (!by_word) return refuse(fmt::format("'{}' is not a pattern", word), pattern_forms);
    found.work = by_word->pattern;
    if (by_word->tells_delta) return found;
  } else {
    Indices indices;
    const auto list = object.find("pattern");
    if (list == object.end() || !list->is_array())
      return refuse("has no pattern", "give a word or a list of indices as \"pattern\"");
    for (const nlohmann::json& one : *list) {
      if (!one.is_number_unsigned() || one.get<std::uint64_t>() > most_index)
        return refuse(fmt::format("'{}' is not an index", one.dump()),
                      fmt::format("indices are whole numbers from 0 to {}", most_index));
      indices.push_back(one.get<std::uint64_t>());
    }
    found.work = pattern_of(TRY(checked(std::move(indices), name)));
  }
  const auto delta = object.find("delta");
  found.work.delta = spatters_delta;
  if (delta == object.end()) return found;
  if (!delta->is_number_unsigned() || *delta < 1U || *delta > most_index)
    return refuse(fmt::format("delta '{}' is not one whole number from 1", delta->dump()),
                  "choose one for all with --delta, and leave it out of the file");
  found.work.delta = delta->get<std::uint64_t>();
  return found;
}

Expected<std::vector<NamedPattern>> spatters_patterns(const std::string& file,
                                                      const std::string& text) {
  const auto document = parse_json(text);
  if (!document) return wrong(file + " " + document.error().message, "");
  const std::string name = printable(std::filesystem::path(file).filename().string());
  std::vector<NamedPattern> patterns;
  const nlohmann::json& all = **document;
  if (!all.is_array()) {
    patterns.push_back(TRY(read_spatter(all, name)));
    return patterns;
  }
  for (const nlohmann::json& one : all)
    patterns.push_back(TRY(read_spatter(one, fmt::format("{}:{}", name, patterns.size() + 1))));
  if (patterns.empty()) return wrong(file + " has no pattern", "");
  return patterns;
}

}  // namespace

Expected<std::vector<NamedPattern>> parse_patterns(const std::string& text) {
  const auto one = [&](PatternParameters pattern) {
    constexpr std::size_t longest_name = 64, shown = 24;
    const std::string name =
        text.size() <= longest_name
            ? text
            : fmt::format("{}... ({} indices)", text.substr(0, shown), pattern.indices.size());
    return std::vector<NamedPattern>{{name, std::nullopt, std::move(pattern)}};
  };
  if (auto by_word = TRY(pattern_by_word(text))) return one(std::move(by_word->pattern));
  if (text.find_first_not_of("0123456789, ") == std::string::npos)
    return one(pattern_of(TRY(checked(TRY(numbers_of(text, 0, most_index)), "the list"))));
  const auto content = read_file(text, "", "");
  if (!content)
    return wrong(fmt::format("'{}' is neither a pattern nor a file that can be read", text),
                 std::string("choose ") + pattern_forms);
  const auto start = content->find_first_not_of(" \t\r\n");
  const bool is_json =
      start != std::string::npos && ((*content)[start] == '[' || (*content)[start] == '{');
  if (is_json)
    return within_memory(text, *content, [&] { return spatters_patterns(text, *content); });
  return one(pattern_of(TRY(indices_in(text, *content))));
}

}  // namespace numatlas::benchmark_random
