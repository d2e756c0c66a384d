// The text side of placement: names, canonical text, and the parsers of --memory, --cpus, --pages.
#include <fmt/format.h>

#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "placement/placement.h"

namespace numatlas {
namespace {

constexpr const char* node_forms =
    "valid forms: inherit, local, bind:0 (or bind:0,1), prefer:0, interleave:0,1 (or "
    "interleave:all), weighted:0=3,2=1, each:0,0,1,1, auto, gpu:0, nearest:gpu:0, fastest";
constexpr const char* cpu_forms =
    "valid forms: allowed (or all), cores, isolated, 1-7,17, node:0,1, socket:0, "
    "kind:performance, gpu:0, nearest:gpu:0, fastest, and one list per local rank: "
    "0-3/4-7 or node:0/node:1";
constexpr const char* page_forms =
    "valid kinds: base, thp, 2M, 1G and other sizes of the system's pools (64K, 1M, 16M, 32M, "
    "512M, 2G, 16G), or several: base,2M";

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

/// What was written, as it can stand in an error message.
std::string quoted(std::string_view text) {
  return fmt::format("'{}'", shortened(std::string(text), 60));
}

/// Why a list cannot be read. Text that begins without a digit was not meant as one.
std::string list_problem(const Error& error, std::string_view list, const char* kind) {
  if (!list.empty() && list.front() >= '0' && list.front() <= '9') return error.message;
  return fmt::format("{} is not a {} list", quoted(list), kind);
}

tl::unexpected<Error> memory_error(const std::string& what) {
  return fail(ErrorKind::usage, what, node_forms);
}

Expected<std::vector<int>> parse_nodes(std::string_view list, std::string_view whole) {
  const auto ids = parse_ordered_list(list);
  if (!ids) return memory_error(list_problem(ids.error(), list, "node"));
  if (ids->empty()) {
    return memory_error(fmt::format("{} names no node", quoted(whole)));
  }
  return *ids;
}

/// Adds a node that is not there yet.
Expected<void> add_node(std::pair<NodeId, int> node, std::string_view whole,
                        MemoryPlacement& placement) {
  const auto named = std::ranges::find(placement.nodes, node.first, &std::pair<NodeId, int>::first);
  if (named != placement.nodes.end())
    return memory_error(
        fmt::format("node {} is named twice in {}", node.first.value, quoted(whole)));
  placement.nodes.push_back(node);
  return {};
}

Expected<MemoryPlacement> with_nodes(MemoryMode mode, std::string_view list,
                                     std::string_view whole) {
  MemoryPlacement placement{.mode = mode, .nodes = {}, .all_nodes = list == "all"};
  if (placement.all_nodes) return placement;
  for (int id : TRY(parse_nodes(list, whole))) TRY(add_node({NodeId{id}, 1}, whole, placement));
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
  for (std::string_view item : split(list, ',')) {
    const auto node = TRY(parse_weight(item, whole));
    TRY(add_node(node, whole, placement));
  }
  return placement;
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
  if (!ids) return fail(ErrorKind::usage, list_problem(ids.error(), list, kind.noun), cpu_forms);
  if (ids->empty()) {
    return fail(ErrorKind::usage, fmt::format("the list is empty: no {} named", kind.noun),
                cpu_forms);
  }
  return *ids;
}

Expected<PageKind> parse_page_kind(std::string_view text) {
  for (int kind = 0; kind <= static_cast<int>(PageKind::huge_16g); ++kind)
    if (text == name_of(static_cast<PageKind>(kind))) return static_cast<PageKind>(kind);
  return fail(ErrorKind::usage, fmt::format("{} is not a page kind", quoted(text)), page_forms);
}

}  // namespace

const char* name_of(PageKind kind) {
  // In the order of the enumeration.
  constexpr std::array names{"base", "thp", "2M",   "1G", "64K", "1M",
                             "16M",  "32M", "512M", "2G", "16G"};
  return names.at(static_cast<std::size_t>(kind));
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
  constexpr std::array names{"inherit", "local", "bind", "prefer", "interleave", "weighted"};
  return names.at(static_cast<std::size_t>(mode));
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

/// The modes that take nodes.
Expected<MemoryPlacement> parse_placement(std::string_view word, std::string_view list,
                                          std::string_view whole) {
  if (word == name_of(MemoryMode::weighted)) return weighted(list, whole);
  for (const MemoryMode mode : {MemoryMode::bind, MemoryMode::prefer, MemoryMode::interleave})
    if (word == name_of(mode)) return with_nodes(mode, list, whole);
  return memory_error(fmt::format("{} is not a placement", quoted(whole)));
}

}  // namespace

const std::vector<std::string>& node_words() {
  static const std::vector<std::string> words{
      "local", "inherit", "auto", "bind:", "prefer:", "interleave:", "weighted:", "each:"};
  return words;
}

Expected<MemorySpec> parse_node_spec(std::string_view text) {
  const std::string_view whole = trim(text);
  if (whole.empty()) return memory_error("no placement given");
  const auto colon = whole.find(':');
  const std::string_view word = trim(whole.substr(0, colon));
  std::optional<std::string_view> list;
  if (colon != std::string_view::npos) list = trim(whole.substr(colon + 1));
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
    for (int id : TRY(parse_nodes(list.value_or(""), whole))) spec.each.push_back(NodeId{id});
    return spec;
  }
  spec.single = TRY(parse_placement(word, list.value_or(""), whole));
  return spec;
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
          cpu_forms);
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
