// The text side of placement: names, canonical text, and the parsers of --memory, --cpus, --pages.
#include <fmt/format.h>

#include "base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "placement/placement.h"

namespace numatlas {
namespace {

constexpr const char* node_forms =
    "valid forms: inherit, local, bind:0 (or bind:0,1), prefer:0, interleave:0,1 (or "
    "interleave:all), weighted:0=3,2=1, each:0,0,1,1, auto, gpu:0, nearest:gpu:0, fastest, largest";
constexpr const char* cpu_forms =
    "valid forms: allowed (or all), cores, isolated, 1-7,17, node:0,1, socket:0, "
    "kind:performance, gpu:0, nearest:gpu:0, fastest, largest, and one list per local rank: "
    "0-3/4-7 or node:0/node:1";
constexpr const char* page_forms =
    "valid kinds: base, thp, 2M, 1G and other sizes of the system's pools (64K, 1M, 16M, 32M, "
    "512M, "
    "2G, 16G), or several: base,2M";

/// The kernel keeps a weight in one byte and refuses 0.
constexpr int max_weight = 255;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(trim(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

/// The word nearest to what was written, when it is near enough to be meant; "" otherwise.
template <class Words>
std::string nearest(std::string_view word, const Words& words) {
  // Longer than any word by more than the distance below: cannot match, and need not be compared.
  constexpr std::size_t longest_typo = 20;
  if (word.empty() || word.size() > longest_typo) return {};
  // Two edits cover a missing, a wrong and two exchanged letters; more would guess.
  std::size_t best = 3;
  std::string found;
  for (std::string_view candidate : words) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best && distance < candidate.size()) {
      best = distance;
      found = candidate;
    }
    // A full word with an ending ("interleaved") or its beginning ("inter") is meant as well.
    const bool begins =
        word.size() >= 3 && (word.starts_with(candidate) || candidate.starts_with(word));
    if (found.empty() && begins) found = candidate;
  }
  return found;
}

/// "node:0", and "node0" and "node=0", which were meant so: "node" and "0".
std::pair<std::string_view, std::string_view> word_and_list(std::string_view part) {
  const auto end = part.find_first_of(":=0123456789");
  if (end == std::string_view::npos) return {part, {}};
  const bool separated = part[end] == ':' || part[end] == '=';
  return {part.substr(0, end), part.substr(separated ? end + 1 : end)};
}

/// What was written, cut to a length that leaves an error message readable.
std::string quoted(std::string_view text) {
  constexpr std::size_t shown = 60;
  if (text.size() <= shown) return fmt::format("'{}'", text);
  return fmt::format("'{}...'", text.substr(0, shown));
}

/// Why a list cannot be read. Text that begins without a digit was not meant as one.
std::string list_problem(const Error& error, std::string_view list, const char* kind) {
  if (!list.empty() && list.front() >= '0' && list.front() <= '9') return error.message;
  return fmt::format("{} is not a {} list", quoted(list), kind);
}

/// The hint is added at the end, where the sources are known.
tl::unexpected<Error> memory_error(const std::string& what, std::string_view suggestion = {}) {
  return fail(ErrorKind::usage, what,
              suggestion.empty() ? "" : fmt::format("did you mean '{}'? ", suggestion));
}

std::string all_forms(const std::vector<SourceForm>& sources) {
  std::string text = node_forms;
  for (const SourceForm& source : sources) {
    for (const std::string& form : source.forms) text += ", " + form;
  }
  return text;
}

Expected<std::vector<int>> parse_nodes(std::string_view list, std::string_view whole) {
  const auto ids = parse_ordered_list(list);
  if (!ids) return memory_error(list_problem(ids.error(), list, "node"));
  if (ids->empty()) {
    return memory_error(fmt::format("{} names no node", quoted(whole)));
  }
  return *ids;
}

Expected<MemoryPlacement> with_nodes(MemoryMode mode, std::string_view list,
                                     std::string_view whole) {
  if (list == "all") return MemoryPlacement{.mode = mode, .nodes = {}, .all_nodes = true};
  const auto ids = TRY(parse_nodes(list, whole));
  MemoryPlacement placement{mode, {}};
  std::set<int> seen;
  for (int id : ids) {
    if (!seen.insert(id).second) {
      return memory_error(fmt::format("node {} is named twice in {}", id, quoted(whole)));
    }
    placement.nodes.emplace_back(NodeId{id}, 1);
  }
  return placement;
}

/// One "0=3" of a weighted form.
Expected<std::pair<NodeId, int>> parse_weight(std::string_view item, std::string_view whole) {
  const auto equals = item.find('=');
  if (equals == std::string_view::npos) {
    return memory_error(
        fmt::format("{} in {} has no weight (write NODE=WEIGHT)", quoted(item), quoted(whole)));
  }
  const auto node = parse_ordered_list(item.substr(0, equals));
  const auto weight = parse_ordered_list(item.substr(equals + 1));
  if (!node || node->size() != 1 || !weight || weight->size() != 1) {
    return memory_error(fmt::format("{} in {} is not NODE=WEIGHT", quoted(item), quoted(whole)));
  }
  if (weight->front() < 1 || weight->front() > max_weight) {
    return memory_error(fmt::format("weight {} of node {} is not from 1 to {}", weight->front(),
                                    node->front(), max_weight));
  }
  return std::pair{NodeId{node->front()}, weight->front()};
}

Expected<MemoryPlacement> weighted(std::string_view list, std::string_view whole) {
  if (trim(list).empty()) return memory_error(fmt::format("{} names no node", quoted(whole)));
  MemoryPlacement placement{MemoryMode::weighted, {}};
  std::set<int> seen;
  for (std::string_view item : split(list, ',')) {
    const auto pair = TRY(parse_weight(item, whole));
    if (!seen.insert(pair.first.value).second) {
      return memory_error(
          fmt::format("node {} is named twice in {}", pair.first.value, quoted(whole)));
    }
    placement.nodes.push_back(pair);
  }
  return placement;
}

/// The form that a value without a word is most likely meant for, by how it begins.
const SourceForm* source_of_path(std::string_view path, const std::vector<SourceForm>& sources) {
  const SourceForm* best = nullptr;
  for (const SourceForm& source : sources) {
    const bool meant = !source.paths.empty() && path.starts_with(source.paths);
    if (meant && (best == nullptr || source.paths.size() > best->paths.size())) best = &source;
  }
  return best;
}

tl::unexpected<Error> unknown_memory_form(std::string_view whole,
                                          const std::vector<SourceForm>& sources) {
  std::vector<std::string_view> words;
  for (std::string_view each : node_words()) {
    if (each.ends_with(':')) each.remove_suffix(1);
    words.push_back(each);
  }
  for (const SourceForm& source : sources) {
    if (!source.forms.empty()) words.push_back(source.word);
  }
  const std::string what = fmt::format("{} is not a placement", quoted(whole));
  if (const auto ids = parse_ordered_list(whole); ids && !ids->empty()) {
    return memory_error(what, fmt::format("bind:{}", whole));
  }
  if (const SourceForm* meant = source_of_path(whole, sources); meant != nullptr) {
    return memory_error(what, fmt::format("{}:{}", meant->word, whole));
  }
  const auto [before, after] = word_and_list(whole);
  // "node:1" is how --cpus has it.
  const std::string meant = before == "node" ? "bind" : nearest(before, words);
  if (meant.empty()) return memory_error(what);
  const bool alone = after.empty() || meant == "local" || meant == "inherit" || meant == "auto";
  return memory_error(what, alone ? meant : fmt::format("{}:{}", meant, after));
}

/// The valid forms, after the one that was probably meant.
std::string cpu_hint(std::string_view part) {
  std::vector<std::string_view> words;
  for (std::string_view word : cpu_words()) words.push_back(word.substr(0, word.find(':')));
  const auto [word, list] = word_and_list(part);
  const std::string meant = nearest(word, words);
  if (meant.empty() || part == meant || part.starts_with(meant + ':')) return cpu_forms;
  return fmt::format("did you mean '{}{}{}'? {}", meant, list.empty() ? "" : ":", list, cpu_forms);
}

/// What a list of --cpus names.
struct CpuListKind {
  std::string_view prefix;
  CpuSpec::Form form;
  const char* noun;
};
constexpr CpuListKind cpu_lists[] = {{"node:", CpuSpec::Form::nodes, "node"},
                                     {"socket:", CpuSpec::Form::sockets, "socket"},
                                     {"", CpuSpec::Form::list, "CPU"}};

const CpuListKind& kind_of_list(std::string_view part) {
  return *std::find_if(std::begin(cpu_lists), std::end(cpu_lists),
                       [&](const CpuListKind& kind) { return part.starts_with(kind.prefix); });
}

/// One list of --cpus.
Expected<std::vector<int>> parse_cpu_list(std::string_view part, const CpuListKind& kind) {
  const std::string_view list = part.substr(kind.prefix.size());
  const auto ids = parse_ordered_list(list);
  if (!ids)
    return fail(ErrorKind::usage, list_problem(ids.error(), list, kind.noun), cpu_hint(part));
  if (ids->empty()) {
    return fail(ErrorKind::usage, fmt::format("the list is empty: no {} named", kind.noun),
                cpu_forms);
  }
  return *ids;
}

bool ends_as_kib(std::string_view unit) {
  return unit == "k" || unit == "K" || unit == "kB" || unit == "KB" || unit == "KiB";
}

/// "512MiB", "512mb" and "512m" as the kinds are written: "512M".
std::string as_page_kind(std::string_view text) {
  for (const std::string_view end : {"iB", "ib", "B", "b"}) {
    if (text.size() <= end.size() || !text.ends_with(end)) continue;
    text.remove_suffix(end.size());
    break;
  }
  std::string kind(text);
  for (char& c : kind) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return kind;
}

Expected<PageKind> parse_page_kind(std::string_view text) {
  std::string meant;
  const std::string written = as_page_kind(text);
  const auto is = [&](PageKind kind) {
    if (written == name_of(kind)) meant = written;  // 64k, 2MiB
    return text == name_of(kind);
  };
  for (const PageKind kind : usual_page_kinds) {
    if (is(kind)) return kind;
  }
  for (const PageKind kind : pool_page_kinds) {
    if (is(kind)) return kind;
  }
  constexpr std::array<std::string_view, 4> words = {"base", "thp", "2M", "1G"};
  if (meant.empty()) meant = nearest(text, words);
  if (text == "huge") meant = "2M";
  for (const std::string_view size : {"4", "16"}) {  // 64K is a kind
    if (text.starts_with(size) && ends_as_kib(text.substr(size.size()))) meant = "base";
  }
  return fail(ErrorKind::usage, fmt::format("{} is not a page kind", quoted(text)),
              meant.empty() ? page_forms : fmt::format("did you mean '{}'? {}", meant, page_forms));
}

}  // namespace

const char* name_of(PageKind kind) {
  switch (kind) {
    case PageKind::base: return "base";
    case PageKind::thp: return "thp";
    case PageKind::huge_64k: return "64K";
    case PageKind::huge_1m: return "1M";
    case PageKind::huge_2m: return "2M";
    case PageKind::huge_16m: return "16M";
    case PageKind::huge_32m: return "32M";
    case PageKind::huge_512m: return "512M";
    case PageKind::huge_1g: return "1G";
    case PageKind::huge_2g: return "2G";
    case PageKind::huge_16g: return "16G";
  }
  return "?";
}

bool is_from_pool(PageKind kind) { return kind != PageKind::base && kind != PageKind::thp; }

Bytes huge_page_size(PageKind kind) {
  const std::string_view name = name_of(kind);
  std::uint64_t number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return Bytes{number * (name.back() == 'G' ? gib : name.back() == 'M' ? mib : kib)};
}

Bytes thp_size_over(Bytes base_page) {
  // What one page of the lowest page table maps, on x86-64 and arm64: 8 bytes an entry (Arm ARM,
  // D8.2: a table fills one translation granule).
  constexpr std::uint64_t entry = 8;
  return Bytes{base_page.value / entry * base_page.value};
}

Bytes page_size_of(PageKind kind, Bytes base_page) {
  if (kind == PageKind::base) return base_page;
  return kind == PageKind::thp ? thp_size_over(base_page) : huge_page_size(kind);
}

const char* name_of(MemoryMode mode) {
  switch (mode) {
    case MemoryMode::inherit: return "inherit";
    case MemoryMode::local: return "local";
    case MemoryMode::bind: return "bind";
    case MemoryMode::prefer: return "prefer";
    case MemoryMode::interleave: return "interleave";
    case MemoryMode::weighted: return "weighted";
  }
  return "?";
}

NodeSet MemoryPlacement::node_set() const {
  NodeSet set;
  for (const auto& [node, weight] : nodes) set.insert(node);
  return set;
}

MemoryPlacement MemoryPlacement::in_force() const {
  const bool inherits = mode == MemoryMode::inherit && source.empty();
  return inherits ? MemoryPlacement{inherited, nodes} : *this;
}

std::string MemoryPlacement::text() const {
  if (!source.empty()) return source;
  std::string text = name_of(mode);
  if (mode == MemoryMode::inherit) return text;
  if (all_nodes) return text + ":all";
  char separator = ':';
  for (const auto& [node, weight] : nodes) {
    text += fmt::format("{}{}", separator, node.value);
    if (mode == MemoryMode::weighted) text += fmt::format("={}", weight);
    separator = ',';
  }
  return text;
}

namespace {

/// A placement of one mode, or by a word that is not known.
Expected<MemoryPlacement> parse_placement(std::string_view word, std::string_view list,
                                          std::string_view whole,
                                          const std::vector<SourceForm>& sources) {
  if (word == "weighted") return weighted(list, whole);
  if (word == "bind") return with_nodes(MemoryMode::bind, list, whole);
  if (word == "prefer") return with_nodes(MemoryMode::prefer, list, whole);
  if (word == "interleave") return with_nodes(MemoryMode::interleave, list, whole);
  return unknown_memory_form(whole, sources);
}

/// All forms but those of the sources.
Expected<MemorySpec> parse_node_form(std::string_view word, std::optional<std::string_view> list,
                                     std::string_view whole,
                                     const std::vector<SourceForm>& sources) {
  MemorySpec spec;
  if (word == "local" || word == "inherit" || word == "auto") {
    if (list) return memory_error(fmt::format("'{}' takes no nodes", word));
    if (word == "auto") spec.form = MemorySpec::Form::round_robin;
    if (word == "inherit") spec.single.mode = MemoryMode::inherit;
    return spec;
  }
  if (word == "each") {
    spec.form = MemorySpec::Form::each;
    spec.single.all_nodes = list == "all";
    if (spec.single.all_nodes) return spec;
    const auto ids = TRY(parse_nodes(list.value_or(""), whole));
    for (int id : ids) spec.each.push_back(NodeId{id});
    return spec;
  }
  spec.single = TRY(parse_placement(word, list.value_or(""), whole, sources));
  return spec;
}

}  // namespace

const std::vector<std::string>& node_words() {
  static const std::vector<std::string> words{
      "local", "inherit", "auto", "bind:", "prefer:", "interleave:", "weighted:", "each:"};
  return words;
}

Expected<MemorySpec> parse_memory_spec(std::string_view text,
                                       const std::vector<SourceForm>& sources) {
  const std::string_view whole = trim(text);
  const auto colon = whole.find(':');
  const std::string_view word = trim(whole.substr(0, colon));
  const bool has_list = colon != std::string_view::npos;
  const auto source = std::find_if(sources.begin(), sources.end(),
                                   [&](const SourceForm& each) { return each.word == word; });
  if (source != sources.end()) {
    // Blanks at the end belong to a path as all its letters do.
    auto value = source->parse(has_list ? text.substr(text.find(':') + 1) : std::string_view{});
    if (!value) return fail(std::move(value).error());
    MemorySpec spec;
    spec.single.mode = MemoryMode::inherit;
    spec.single.source = fmt::format("{}:{}", word, *value);
    return spec;
  }
  std::optional<std::string_view> list;
  if (has_list) list = trim(whole.substr(colon + 1));
  auto spec = whole.empty() ? Expected<MemorySpec>(memory_error("no placement given"))
                            : parse_node_form(word, list, whole, sources);
  if (spec) return spec;
  Error error = std::move(spec).error();
  error.hint += all_forms(sources);
  return fail(std::move(error));
}

const std::vector<std::string>& cpu_words() {
  static const std::vector<std::string> words{"allowed", "all",     "cores", "isolated",
                                              "node:",   "socket:", "kind:"};
  return words;
}

Expected<CpuSpec> parse_cpu_spec(std::string_view text) {
  const std::string_view whole = trim(text);
  CpuSpec spec;
  spec.is_default = false;
  if (whole == "allowed" || whole == "all") return spec;
  if (whole == "cores" || whole == "isolated") {
    spec.form = whole == "cores" ? CpuSpec::Form::cores : CpuSpec::Form::isolated;
    return spec;
  }
  if (whole.empty()) {
    return fail(ErrorKind::usage, "the list is empty: no CPU named", cpu_forms);
  }
  if (whole.starts_with("kind:")) {
    spec.form = CpuSpec::Form::kind;
    spec.kind = trim(whole.substr(whole.find(':') + 1));
    if (spec.kind.empty()) return fail(ErrorKind::usage, "no kind of cores named", cpu_forms);
    return spec;
  }
  const std::vector<std::string_view> parts = split(whole, '/');
  const CpuListKind& kind = kind_of_list(parts.front());
  spec.form = kind.form;
  for (std::string_view part : parts) {
    const CpuListKind& own = kind_of_list(part);
    if (own.form != kind.form && !part.empty()) {
      return fail(
          ErrorKind::usage,
          fmt::format("{} mixes lists of {}s and of {}s", quoted(whole), kind.noun, own.noun),
          cpu_hint(part));
    }
    auto list = TRY(parse_cpu_list(part, own));
    spec.lists.push_back(std::move(list));
  }
  return spec;
}

Expected<std::vector<PageKind>> parse_page_kinds(std::string_view text) {
  std::vector<PageKind> kinds;
  for (std::string_view item : split(text, ',')) {
    const auto kind = TRY(parse_page_kind(item));
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) {
      return fail(ErrorKind::usage, fmt::format("'{}' is named twice", item), page_forms);
    }
    kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace numatlas
