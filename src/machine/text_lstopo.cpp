// The console form of lstopo: an object a line, below its parent by two spaces, or joined to it by
// " + ". hwloc 2 shows a NUMA node beside the objects that are near it, hwloc 1 around them.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/tree.h"
#include "machine/hwloc_devices.h"
#include "machine/hwloc_reader.h"
#include "machine/text_forms.h"

namespace numatlas {
namespace {

constexpr int most_number = 1 << 20;  // as base/ids reads lists
constexpr int deepest = 64;           // hwloc has some twenty types

struct Object {
  std::string type;     ///< "NUMANode", "L3", "PU"
  std::string details;  ///< the rest of its text
  std::size_t parent = 0;
  int depth = 0;
  CpuSet cpus;
};

/// The number behind "P#" or "L#"; nullopt where there is none that can be a number of the system.
std::optional<int> number_at(const std::string& text, const std::string& mark) {
  const auto at = text.find(mark);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t start = at + mark.size();
  const auto end = text.find_first_not_of("0123456789", start);
  const auto number = number_after(text.substr(start, end - start), "");
  return number && *number <= most_number ? number : std::nullopt;
}

/// "8192KB" of "(8192KB)", "(P#0 63GB)", "(126.5GiB)", or with -v of "size=8192KB" and
/// "local=65842048KB"; units are powers of 1024.
std::optional<Bytes> size_in(const std::string& details) {
  std::string_view left = details;
  while (!left.empty()) {
    const auto start = left.find_first_of("0123456789");
    if (start == std::string_view::npos) return std::nullopt;
    left.remove_prefix(start);
    const auto end = left.find_first_not_of("0123456789.");
    const std::string_view unit = end == std::string_view::npos ? "" : left.substr(end, 3);
    const bool is_size = !unit.empty() &&
                         std::string_view("kKMGT").find(unit.front()) != std::string_view::npos &&
                         (unit.substr(1).starts_with('B') || unit.substr(1) == "iB");
    if (is_size) {
      const auto bytes = parse_bytes(left.substr(0, end + 1));
      return bytes ? std::optional(*bytes) : std::nullopt;
    }
    left.remove_prefix(end == std::string_view::npos ? left.size() : end);
  }
  return std::nullopt;
}

/// Of -v: name=word, or name="several words".
std::string info_in(const std::string& details, const std::string& name) {
  const auto at = details.find(name + "=");
  if (at == std::string::npos) return "";
  const std::size_t start = at + name.size() + 1;
  if (details.compare(start, 1, "\"") == 0)
    return details.substr(start + 1, details.find('"', start + 1) - start - 1);
  return details.substr(start, details.find_first_of(" )", start) - start);
}

class LstopoReader {
 public:
  Expected<Machine> read(const std::string& text) {
    objects_.emplace_back();  // above all
    for (const std::string& line : split_lines(text)) {
      const auto indent = line.find_first_not_of(' ');
      if (indent != std::string::npos && (indent > 0 || line.starts_with("Machine")))
        add_line(line, indent);
    }
    if (unnumbered_) {
      return fail(ErrorKind::usage, "shows CPUs without the numbers of the system (P#)",
                  "write it with 'lstopo file.xml'");
    }
    add_cpus();
    add_nodes();
    add_caches();
    if (!machine_.cpus.empty()) TRY(check_whole());
    const auto is_device = [](const Object& object) {
      constexpr std::array<std::string_view, 5> devices{"PCI", "PCIDev", "GPU", "CoProc", "OpenCL"};
      return std::ranges::find(devices, object.type) != devices.end();
    };
    if (std::ranges::any_of(objects_, is_device))
      machine_.unread["gpus"] = "not read from the text of lstopo; 'lstopo file.xml' has them";
    return completed(std::move(machine_), "lstopo");
  }

 private:
  void add_line(const std::string& line, std::size_t indent) {
    while (!open_.empty() && open_.back().first >= indent) open_.pop_back();
    std::size_t parent = open_.empty() ? 0 : open_.back().second;
    for (std::size_t at = indent; at < line.size();) {
      const auto plus = line.find(" + ", at);
      const std::string item = line.substr(at, plus - at);
      Object object;
      object.type = item.substr(0, item.find_first_of(" ("));
      object.details = item.substr(object.type.size());
      object.parent = parent;
      object.depth = objects_[parent].depth + 1;
      if (object.depth > deepest) return;
      parent = objects_.size();
      objects_.push_back(std::move(object));
      open_.emplace_back(indent, parent);
      if (objects_.back().type == "PU" && !number_at(objects_.back().details, "P#"))
        unnumbered_ = true;
      at = plus == std::string::npos ? line.size() : plus + 3;
    }
  }

  /// Parts without a CPU, or nodes with less memory than they have together: the text was cut.
  Expected<void> check_whole() const {
    std::optional<Bytes> total;
    std::uint64_t sum = 0;
    for (const NumaNode& node : machine_.nodes) sum += node.memory_total.value_or(Bytes{}).value;
    for (const Object& object : objects_) {
      const std::string& type = object.type;
      const bool has_cpus =
          type == "Core" || type == "Package" || type == "Socket" || cache_level(type).has_value();
      if (has_cpus && object.cpus.empty())
        return fail(ErrorKind::usage,
                    fmt::format("a text of lstopo in which a {} has no CPU", type), "is it whole?");
      if (type == "Machine" && object.details.find("total") != std::string::npos)
        total = size_in(object.details);
    }
    constexpr double rounded = 0.9;
    if (!total || sum == 0 ||
        static_cast<double>(sum) >= rounded * static_cast<double>(total->value))
      return {};
    return fail(ErrorKind::usage,
                fmt::format("a text of lstopo whose nodes have {} of {} of memory",
                            to_rounded_text(Bytes{sum}), to_rounded_text(*total)),
                "is it whole?");
  }

  void add_cpus() {
    std::map<std::size_t, int> cores, threads;
    for (std::size_t i = 1; i < objects_.size(); ++i) {
      if (objects_[i].type != "PU") continue;
      Cpu cpu;
      cpu.id = CpuId{*number_at(objects_[i].details, "P#")};
      std::size_t core = i;
      for (std::size_t above = i; above != 0; above = objects_[above].parent) {
        Object& object = objects_[above];
        object.cpus.insert(cpu.id);
        if (object.type == "Core") core = above;
        if (object.type != "Package" && object.type != "Socket") continue;
        auto number = number_at(object.details, "P#");
        if (!number) number = number_at(object.details, "L#");
        cpu.package = number.value_or(-1);
        if (machine_.cpu_model.empty()) machine_.cpu_model = info_in(object.details, "CPUModel");
      }
      cpu.core = cores.emplace(core, static_cast<int>(cores.size())).first->second;
      cpu.smt_index = threads[core]++;
      machine_.cpus.push_back(cpu);
    }
  }

  /// CPUs of a node are those within it, else those near what it stands beside.
  void add_nodes() {
    std::map<int, CpuSet> near;
    bool any_size = false;
    for (const Object& object : objects_) {
      if (object.type != "NUMANode") continue;
      const auto id = number_at(object.details, "P#");
      if (!id || *id >= most_text_nodes || near.contains(*id)) continue;
      const Object* place = &object;
      while (place->cpus.empty() && place != &objects_.front()) place = &objects_[place->parent];
      near[*id] = place->cpus;
      NumaNode& node = machine_.nodes.emplace_back();
      node.id = NodeId{*id};
      node.memory_total = size_in(object.details);
      any_size = any_size || node.memory_total;
      add_side_caches(objects_[object.parent], node);
      const std::string& details = object.details;  // "(HBM) L#1 (P#2 32GB)"
      if (details.starts_with('('))
        node.kind = kind_of_subtype(details.substr(1, details.find(')') - 1).c_str());
    }
    if (near.empty()) add_only_node();
    for (NumaNode& node : machine_.nodes) {
      // A node of which it gives no size beside others has none.
      if (!node.memory_total && any_size) node.memory_total = Bytes{0};
      for (CpuId cpu : near[node.id.value]) {
        if (is_nearest(node.id.value, cpu, near)) node.cpus.insert(cpu);
      }
    }
    forget_guesses();
  }

  /// As of XML (forget_guessed_kinds); where the text does not name the processor, HBM is believed
  /// of nodes without CPUs, and none of DRAM beside CPUs that is called HBM.
  void forget_guesses() {
    if (has_stacked_memory(machine_.cpu_model)) return;
    NodeSet guessed;
    for (const NumaNode& node : machine_.nodes) {
      if (node.kind == "hbm" && (!machine_.cpu_model.empty() || !node.cpus.empty()))
        guessed.insert(node.id);
    }
    if (guessed.empty()) return;
    for (NumaNode& node : machine_.nodes)
      if (node.kind == "hbm" || node.kind == "dram") node.kind.clear();
    machine_.notes.push_back(fmt::format(
        "the text calls node {} HBM: a guess of hwloc, not believed", to_list(guessed)));
  }

  /// Memory-side caches stand between a node and what it is attached to.
  void add_side_caches(const Object& parent, NumaNode& node) {
    for (const Object* above = &parent; above->type == "MemCache";
         above = &objects_[above->parent]) {
      const int level = static_cast<int>(node.side_caches.size()) + 1;
      if (const auto size = size_in(above->details))
        node.side_caches.push_back({level, *size, std::nullopt});
    }
  }

  void add_only_node() {
    NumaNode& node = machine_.nodes.emplace_back();
    node.id = NodeId{0};
    node.cpus = machine_.all_cpus();
    for (const Object& object : objects_)
      if (object.type == "Machine") node.memory_total = size_in(object.details);
  }

  /// The smallest set of CPUs wins, among equals the lower number: memory beside CPUs comes first.
  static bool is_nearest(int node, CpuId cpu, const std::map<int, CpuSet>& near) {
    const std::pair own(near.at(node).size(), node);
    for (const auto& [other, cpus] : near)
      if (cpus.contains(cpu) && std::pair(cpus.size(), other) < own) return false;
    return true;
  }

  /// Of "L3", "L1d", "L3Cache".
  static std::optional<int> cache_level(const std::string& type) {
    const bool level = type.size() >= 2 && type[0] == 'L' && type[1] >= '1' && type[1] <= '5';
    return level ? std::optional(type[1] - '0') : std::nullopt;
  }

  void add_caches() {
    for (const Object& object : objects_) {
      const std::string& type = object.type;
      const auto level = cache_level(type);
      if (!level || object.cpus.empty()) continue;
      Cache cache;
      cache.level = *level;
      const char kind = type.size() > 2 ? type[2] : ' ';
      cache.type = kind == 'd' ? "data" : kind == 'i' ? "instruction" : "unified";
      cache.size = size_in(object.details).value_or(Bytes{0});
      cache.cpus = object.cpus;
      machine_.caches.push_back(std::move(cache));
    }
  }

  std::vector<Object> objects_;
  std::vector<std::pair<std::size_t, std::size_t>> open_;  ///< indent and object, outermost first
  Machine machine_;
  bool unnumbered_ = false;
};

}  // namespace

Expected<Machine> read_lstopo_text(const std::string& text) { return LstopoReader().read(text); }

}  // namespace numatlas
