// Random access: how many accesses a second go to places of the memory that nothing foretells, as
// in hash tables and graphs; and gathers and scatters by a pattern of indices.
#include "benchmarks/random/random.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/product.h"
#include "base/read_file.h"
#include "base/text.h"
#include "base/units.h"
#include "base/whole.h"
#include "record/labels.h"
#include "run/benchmark.h"
#include "run/declare.h"
#include "run/flows.h"

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
  const nlohmann::json& all = *document;
  if (!all.is_array()) {
    patterns.push_back(TRY(read_spatter(all, name)));
    return patterns;
  }
  for (const nlohmann::json& one : all)
    patterns.push_back(TRY(read_spatter(one, fmt::format("{}:{}", name, patterns.size() + 1))));
  if (patterns.empty()) return wrong(file + " has no pattern", "");
  return patterns;
}

const Choices<Access> operations{{"read", Access::read},     {"write", Access::write},
                                 {"update", Access::update}, {"atomic", Access::atomic},
                                 {"gather", Access::gather}, {"scatter", Access::scatter}};

struct Options {
  std::vector<Access> chosen{Access::read, Access::write, Access::update, Access::atomic};
  std::string access_text = "8", pattern_text, delta_text;
  const CLI::Option *operation = nullptr, *access = nullptr;  ///< the app's
  std::vector<KernelSpec> kernels = {};
  std::vector<NamedPattern> patterns = {};
};

void add_options(Options& own, CLI::App& app) {
  own.operation = add_choices(
      app, "--operation", own.chosen, operations,
      "what is done at each place; an update reads, changes and writes\n"
      "Atomic updates work on memory that all workers share, the others on each worker's own. "
      "gather and scatter (the default with --pattern) read and write the words that its indices "
      "name");
  own.access =
      add_value(app, "--access", own.access_text, "BYTES,...", "bytes of an access, 8 to 256");
  add_value(app, "--pattern", own.pattern_text, "PATTERN",
            fmt::format("gather or scatter: {}", pattern_forms));
  rare(add_value(app, "--delta", own.delta_text, "WORDS",
                 "words of 8 bytes from one start of the pattern to the next (default: the "
                 "pattern's length, of laplacian 1)"));
}

bool of_pattern(Access access) { return access == Access::gather || access == Access::scatter; }

Expected<std::vector<unsigned>> parse_access(const std::string& text) {
  std::vector<unsigned> sizes;
  for (const std::string& word : words_of(text)) {
    const auto bytes = parse_whole(word, 8U, longest_access, "--access");
    if (!bytes || !std::has_single_bit(*bytes))
      return fail_usage("--access", fmt::format("'{}' is not 8, 16, 32, 64, 128 or 256", word));
    sizes.push_back(*bytes);
  }
  return sizes;
}

Expected<void> parse_kernels_of_patterns(Options& own) {
  own.patterns = TRY(parse_patterns(own.pattern_text));
  for (NamedPattern& pattern : own.patterns) {
    if (!own.delta_text.empty())
      pattern.work.delta =
          TRY(parse_whole(own.delta_text, std::uint64_t{1}, std::uint64_t{1} << 40, "--delta"));
    for (const Access access : own.chosen) {
      pattern.work.access = access;
      const KernelSpec kernel{pattern.work};
      const bool twice = std::ranges::find(own.kernels, kernel) != own.kernels.end();
      if (pattern.access.value_or(access) == access && !twice) own.kernels.push_back(kernel);
    }
  }
  if (own.kernels.empty())
    return fail_usage("--operation " + word_for(operations, own.chosen.front()),
                      fmt::format("{} has none", own.pattern_text), "leave --operation out");
  return {};
}

Expected<void> parse(Options& own, Benchmark& benchmark) {
  benchmark.is_of_memory = benchmark.given->sizes.empty();
  const bool patterned = !own.pattern_text.empty();
  if (patterned && own.operation->count() == 0) own.chosen = {Access::gather, Access::scatter};
  for (const Access access : own.chosen) {
    if (of_pattern(access) == patterned) continue;
    return fail_usage(
        "--operation " + word_for(operations, access),
        patterned ? "takes no --pattern" : "needs a --pattern",
        patterned ? "use gather or scatter" : std::string("such as ") + pattern_forms);
  }
  if (patterned && own.access->count() > 0)
    return fail_usage("--access", "does not go with --pattern", "leave one of them out");
  if (patterned) return parse_kernels_of_patterns(own);
  if (!own.delta_text.empty())
    return fail_usage("--delta", "needs --pattern", "add --pattern or leave --delta out");
  const auto accesses = TRY(parse_access(own.access_text));
  for_each_of(
      [&](Access access, unsigned bytes) {
        const KernelSpec kernel{RandomParameters{access, bytes}};
        if (std::ranges::find(own.kernels, kernel) == own.kernels.end())
          own.kernels.push_back(kernel);
      },
      own.chosen, accesses);
  return {};
}

/// Atomic updates: gives the flows of each rank the memory of all of them, which the first of them
/// places.
void share_memory(const PlanInput& input, std::vector<Flow>& flows) {
  std::map<int, std::vector<std::size_t>> of_rank;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const auto* const random = flows[i].kernel.find<RandomParameters>();
    if (random == nullptr || random->access != Access::atomic || input.options.serial) return;
    of_rank[worker_of(input, flows[i].worker).rank].push_back(i);
  }
  for (const auto& [rank, mine] : of_rank) {
    Region together = flows[mine.front()].region;
    together.bytes = {};
    for (const std::size_t i : mine) together.bytes.value += flows[i].region.bytes.value;
    for (const std::size_t i : mine) {
      flows[i].kernel.as<RandomParameters>().workers = mine.size();
      flows[i].region = together;
      if (i != mine.front()) flows[i].shares = static_cast<int>(mine.front());
    }
  }
}

/// One access or start of a pattern, as the report names it.
Labels labels_of(const Options& own, const KernelSpec& kernel) {
  if (const auto* const pattern = kernel.find<PatternParameters>()) {
    const auto named = std::ranges::find_if(own.patterns, [&](const NamedPattern& one) {
      return one.work.indices == pattern->indices && one.work.delta == pattern->delta;
    });
    return {{"pattern", named->name}, {"delta", std::to_string(pattern->delta)}};
  }
  return {{"access", std::to_string(kernel.as<RandomParameters>().bytes)}};
}

Expected<std::vector<AxisValue>> kernels(const Options& own, const PlanInput&) {
  std::vector<AxisValue> kernels;
  for (const KernelSpec& kernel : own.kernels) kernels.push_back({{name_of(kernel)}, kernel});
  return kernels;
}

Expected<Point> point(const Options& own, const PlanInput& input, const AxisSetting& now) {
  const auto& kernel = now.of<KernelSpec>();
  Point point{.labels = labels_of(own, kernel)};
  for (const int worker : workers_within(input.layout, now.threads)) {
    Flow& flow = point.flows.emplace_back(
        stream_flow(input, {name_of(kernel), kernel}, worker, now.size, now.pages));
    // Other places than those of any other worker.
    flow.kernel.seed += static_cast<std::uint64_t>(worker);
  }
  return point;
}

/// The kernel of a case; absent of another's.
std::optional<KernelSpec> kernel_of(const Options& own, const std::string& name,
                                    const Case& visit) {
  for (const KernelSpec& kernel : own.kernels) {
    const auto labels = labels_of(own, kernel);
    const bool same = std::ranges::all_of(
        labels, [&](const auto& label) { return label_of(visit, label.first) == label.second; });
    if (same && name_of(kernel) == name) return kernel;
  }
  return std::nullopt;
}

/// Accesses a second, of the bytes that they move.
std::optional<Figure> accesses_of(const KernelSpec& kernel, const Figure* moved, const char* key) {
  if (kernel.find<RandomParameters>() == nullptr || moved == nullptr || !moved->estimate)
    return std::nullopt;
  const auto bytes = static_cast<double>(traffic_per_step(kernel).counted());
  return Figure{key, "1/s", scaled(*moved->estimate, 1 / bytes), std::nullopt};
}

std::vector<Figure> flow_figures(const Options& own, const FlowResult& flow, const Case& visit) {
  const auto kernel = kernel_of(own, flow.kernel, visit);
  if (!kernel) return {};
  const auto accesses = accesses_of(*kernel, find_figure(flow, "bandwidth"), "accesses");
  return accesses ? std::vector{*accesses} : std::vector<Figure>{};
}

std::vector<Figure> totals(const Options& own, const Case& visit, const RunReport&) {
  const auto kernel = kernel_of(own, visit.kernel, visit);
  if (!kernel) return {};
  std::vector<Figure> figures;
  const auto accesses =
      accesses_of(*kernel, find_figure(visit.figures, "bandwidth_sum"), "accesses_sum");
  if (accesses) figures.push_back(*accesses);
  const auto* const pattern = kernel->find<PatternParameters>();
  const double used =
      pattern != nullptr ? used_share(*pattern) : used_share(kernel->as<RandomParameters>());
  figures.push_back({"used_share", "1", Estimate(used), std::nullopt});
  return figures;
}

/// What both tables have.
std::vector<ViewColumn> columns(std::vector<ViewColumn> labels, std::vector<ViewColumn> figures) {
  std::vector<ViewColumn> all{label_column("operation", "kernel")};
  std::ranges::move(labels, std::back_inserter(all));
  for (const auto& [head, label] : {std::pair("size/worker", "size"), std::pair("fits", "level"),
                                    std::pair("nodes", "nodes"), std::pair("workers", "workers")})
    all.push_back(label_column(head, label));
  std::ranges::move(figures, std::back_inserter(all));
  all.push_back(figure_column("used", "used_share", in_percent, Part::value, 1, " %"));
  return all;
}

std::vector<Table> tables() {
  return {
      {.title = "Gather and scatter by {pattern}, delta {delta}, in GB/s ({pages} pages)",
       .apart = {"pages", "pattern"},
       .only = {"pattern"},
       .cells =
           columns({}, {figure_column("sum", "bandwidth_sum", in_gb_per_s),
                        figure_column(plus_minus(), "bandwidth_sum", in_gb_per_s, Part::half_width),
                        figure_column("worker median", "bandwidth", in_gb_per_s)}),
       .notes = {fmt::format(
                     "sum: the words moved by all workers in their common time; {}: half of its "
                     "95 % interval; used: share of each line that the pattern moves",
                     plus_minus()),
                 "delta: each start is so many words after the one before"}},
      {.title = "Random accesses: millions per second ({pages} pages)",
       .apart = {"pages", "pattern"},
       .only = {"access"},
       .cells = columns({label_column("bytes", "access")},
                        {figure_column("sum", "accesses_sum", in_millions, Part::value, 2),
                         figure_column(plus_minus(), "accesses_sum", in_millions, Part::half_width),
                         figure_column("worker median", "accesses", in_millions, Part::value, 2),
                         figure_column("GB/s", "bandwidth_sum", in_gb_per_s)}),
       .notes = {
           fmt::format(
               "sum: all workers in their common time (of updates 1,000 are a GUP/s); {}: half "
               "of its 95 % interval; GB/s: whole lines, as the kernel counts them; used: "
               "share of a line that an access uses",
               plus_minus()),
           "checked after each visit: reads by their sum, writes by their content, updates "
           "by undoing them; an error ends the run"}}};
}

SurveyPart survey(const Machine&) {
  return {0.5,
          {"--operation", "read,update,write,atomic"},
          {{"operations", {"kernel"}, 1, Keep::first}}};
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
  if (is_json) return spatters_patterns(text, *content);
  return one(pattern_of(TRY(indices_in(text, *content))));
}

Benchmark make() {
  const Bound<Options> with;
  return {
      .name = "random",
      .help =
          {.summary = "random accesses per second, gather and scatter",
           .listing = {Topic::memory, true},
           .description =
               "Each worker accesses 8 to 256 bytes at independent random places of its memory: it "
               "reads, writes, updates them (as HPCC RandomAccess, in GUP/s) or updates them "
               "atomically. No access waits for another: the CPU has as many under way as it can; "
               "latency --chains sets how many. With --pattern it gathers and scatters words by "
               "indices, as Spatter does.",
           .examples = {{"Reads per second by their size, of one CPU",
                         "numatlas random --operation read --threads 1 --access 8,64,256"},
                        {"Gathers of every fourth word",
                         "numatlas random --operation gather --pattern uniform:8:4"}}},
      .options = {.usual_threads = "OMP_NUM_THREADS, or one per CPU; one under a launcher"},
      .is_of_memory = true,
      .varies = {.size = "memory of each worker"},
      .sweeps = {{.point = with(point),
                  .name = "{kernel} {size} {pages}[ access {access}][ pattern {pattern} delta "
                          "{delta}][ {threads}]",
                  .axes = {{.labels = {"kernel"}, .values = with(kernels)}},
                  // Past the TLB as well.
                  .size = {.form = SizeRule::Form::by_worker, .least_together = least_chase},
                  .sized = share_memory}},
      .add_options = with(add_options),
      .parse_options = with(parse),
      .figures = {.of_flow = with(flow_figures), .totals = with(totals)},
      .shown = {.tables = tables(),
                .fact_rules = {{.figure = "bandwidth_sum",
                                .heading = "Gather and scatter",
                                .key = "indexed_accesses",
                                .where = {"kernel", "pattern", "delta", "workers"},
                                .words = "{kernel} by {pattern}, {workers|worker}, {pages} pages",
                                .line = "{kernel} by {pattern} {} ({workers|worker})",
                                .only = {"pattern"},
                                .best_of = {"kernel", "pattern", "delta"}},
                               {.figure = "accesses_sum",
                                .heading = "Random access",
                                .key = "random_accesses",
                                .where = {"kernel", "access", "workers"},
                                .words =
                                    "{kernel} of {access} bytes, {workers|worker}, {pages} pages",
                                .line = "{kernel} of {access} bytes {} ({workers|worker})",
                                .only = {"access"},
                                .best_of = {"kernel", "access"}}}},
      .survey = survey,
  };
}

}  // namespace numatlas::benchmark_random
