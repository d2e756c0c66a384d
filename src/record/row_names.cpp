#include "record/row_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/add_once.h"
#include "base/text.h"

namespace numatlas {
namespace {

/// A label or the key of a figure as words.
std::string spelled(std::string name) {
  std::ranges::replace(name, '_', ' ');
  for (const char* word : {"cpu", "gpu"})
    for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word, at))
      std::transform(name.begin() + static_cast<std::ptrdiff_t>(at),
                     name.begin() + static_cast<std::ptrdiff_t>(at + 3),
                     name.begin() + static_cast<std::ptrdiff_t>(at),
                     [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

/// Whether a text says nothing without the name of its label: "4", "bind:0".
bool is_number(std::string_view text) {
  const auto is = [&](std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  const std::size_t colon = text.find(':');
  return is(0) || (colon != std::string_view::npos && is(colon + 1));
}

/// "100 % reads", "67 % reads (mix 2:1)".
std::string load_words(const std::string& kernel) {
  if (kernel == "read") return "100 % reads";
  if (kernel == "write") return "writes alone";
  double reads = 0, writes = 0;
  constexpr std::string_view mix = "mix ";
  const std::size_t colon = kernel.find(':');
  if (!kernel.starts_with(mix) || colon == std::string::npos) return kernel;
  reads = std::atof(kernel.c_str() + mix.size());
  writes = std::atof(kernel.c_str() + colon + 1);
  return fmt::format("{:.0f} % reads ({})", 100 * reads / (reads + writes), kernel);
}

std::string label_words(const std::string& name, const std::string& text, const std::string& head) {
  if (name == "load_kernel") return load_words(text);
  const bool is_count = std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
  for (const auto& [label, thing] :
       {std::pair{"workers", "worker"}, {"threads", "thread"}, {"page_count", "page"}})
    if (name == label && is_count)
      return fmt::format("{} {}{}", text, thing, text == "1" ? "" : "s");
  const std::size_t arrow = text.find(" -> ");
  if (name == "nodes" && arrow != std::string::npos)
    return "node " +
           (text.substr(0, arrow) == text.substr(arrow + 4) ? text.substr(0, arrow) : text);
  return is_number(text) ? (head.empty() ? spelled(name) : head) + " " + text : text;
}

/// More groups than this nobody tells apart by their colour.
constexpr std::size_t most_groups = 8;

}  // namespace

std::string words_of(const View& view, const LabelTexts& labels) {
  const auto text_of = [&](const char* name) {
    const auto found = std::ranges::find(labels, name, [](const auto& one) { return one.first; });
    return found == labels.end() ? "" : found->second;
  };
  const bool one_node =
      !text_of("cpu_node").empty() && text_of("cpu_node") == text_of("memory_node");
  std::vector<std::string> words;
  for (const auto& [name, text] : labels) {
    if (text == unknown_text || text.empty() || (one_node && name == "memory_node")) continue;
    const auto column = std::ranges::find(view.cells, name, &ViewColumn::label);
    const std::string head = column == view.cells.end() ? "" : column->head;
    words.push_back(one_node && name == "cpu_node" ? "node " + text
                                                   : label_words(name, spaced(text), head));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string side_words(const std::string& label) {
  return label == "victim"        ? "CPUs:memory"
         : label == "load_memory" ? "load on node"
                                  : spelled(label);
}

std::string axis_words(const std::string& key, const std::string& head) {
  static const std::map<std::string, std::string> known{
      {"size", "buffer size"},
      {"latency", "latency per load"},
      {"tlb_cost", "TLB misses, per load"},
      {"page_count", "pages"},
      {"chains", "independent chains"},
      {"bandwidth_sum", "bandwidth"},
      {"traffic_sum", "memory traffic of the load"},
      {"operations_sum", "operations"}};
  const auto found = known.find(key);
  return found != known.end() ? found->second : head.empty() ? spelled(key) : head;
}

NamedRows::NamedRows(const RunReport& report, const View& view, std::vector<ViewItem> items)
    : report_(report), view_(view), items_(std::move(items)) {}

const std::vector<std::string>& NamedRows::texts(const std::string& label) const {
  const auto [found, is_new] = texts_.try_emplace(label);
  if (is_new)
    for (const ViewItem& item : items_) found->second.push_back(label_text(report_, item, label));
  return found->second;
}

LabelTexts NamedRows::labels_of(std::size_t row, const std::vector<std::string>& names) const {
  LabelTexts labels;
  for (const std::string& name : names) labels.emplace_back(name, texts(name)[row]);
  return labels;
}

std::vector<std::string> NamedRows::keys(const std::vector<std::string>& names) const {
  std::vector<std::string> keys(items_.size());
  for (const std::string& name : names)
    for (std::size_t row = 0; row < keys.size(); ++row) keys[row] += texts(name)[row] + '\n';
  return keys;
}

bool NamedRows::are_unique(const std::vector<std::string>& names) const {
  const std::vector<std::string> all = keys(names);
  return std::unordered_set<std::string>(all.begin(), all.end()).size() == all.size();
}

bool NamedRows::differ(const std::vector<std::string>& known, const std::string& name) const {
  const std::vector<std::string> alike = keys(known);
  std::unordered_map<std::string, std::string> first;
  for (std::size_t row = 0; row < alike.size(); ++row)
    if (first.try_emplace(alike[row], texts(name)[row]).first->second != texts(name)[row])
      return true;
  return false;
}

std::vector<std::string> NamedRows::telling(const std::vector<std::string>& known,
                                            const std::vector<std::string>& first) const {
  if (are_unique(known)) return {};
  std::set<std::string> own;
  for (const Case& one : report_.cases)
    for (const auto& [name, text] : one.labels) own.insert(name);
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(known, name) == known.end()) add_once(names, name);
  };
  for (const std::string& name : first) add(name);
  for (const char* name : {"cpu_node", "memory_node"})
    if (own.contains(name)) add(name);
  for (const std::string& name : own) add(name);
  for (const char* name :
       {"host", "kernel", "stores", "size", "pages", "order", "stride", "workers"})
    add(name);
  if (view_.level == ViewLevel::flows)
    for (const char* name : {"cpu_node", "memory_node", "rank", "thread"}) add(name);
  std::vector<std::string> found;
  std::ranges::copy_if(names, std::back_inserter(found),
                       [&](const std::string& name) { return differ(known, name); });
  const auto tell = [&](const std::vector<std::string>& some) {
    std::vector<std::string> all = known;
    all.insert(all.end(), some.begin(), some.end());
    return !all.empty() && are_unique(all);
  };
  while (!found.empty() && tell({found.begin(), found.end() - 1})) found.pop_back();
  for (const std::string& name : std::vector<std::string>(found)) {
    std::vector<std::string> others = found;
    std::erase(others, name);
    if (own.contains(name) && tell(others)) found = std::move(others);
  }
  return found;
}

bool NamedRows::size_follows_workers() const {
  return !differ({"workers"}, "size") && differ({}, "size");
}

std::vector<std::pair<std::string, std::string>> NamedRows::names(
    const std::vector<std::string>& telling, const std::string& otherwise) const {
  std::vector<std::string> first, rest;
  for (const std::string& name : telling) {
    // What is alike for all of a name is part of it.
    if (first.empty() || !differ({telling.front()}, name))
      first.push_back(name);
    else
      rest.push_back(name);
  }
  const std::vector<std::string> groups = keys(rest);
  if (std::set<std::string>(groups.begin(), groups.end()).size() > most_groups) {
    first = telling;
    rest.clear();
  }
  std::vector<std::pair<std::string, std::string>> found;
  for (std::size_t row = 0; row < items_.size(); ++row) {
    const std::string& own = items_[row].one->name;
    found.emplace_back(
        telling.empty() ? own.empty() ? spelled(otherwise) : own : words_of(row, first),
        words_of(row, rest));
  }
  return found;
}

}  // namespace numatlas
