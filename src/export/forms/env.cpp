// For shells: variables to source.
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "export/export.h"
#include "report/openmetrics.h"

namespace numatlas {
namespace {

/// "CPU 0 (node 1)" -> "CPU_0_NODE_1".
std::string upper_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (letter < 0x80 && std::isalnum(letter) != 0)
      name += static_cast<char>(std::toupper(letter));
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

/// KEY_LABEL_VALUE_..._UNIT, so that a name says all that tells its figure from the others.
std::string name_of_fact(const Fact& fact) {
  std::string name = "NUMATLAS_FACT_" + upper_name(fact.key);
  for (const auto& [label, value] : fact.where) {
    const std::string of_value = upper_name(value);
    if (!of_value.empty()) name += fmt::format("_{}_{}", upper_name(label), of_value);
  }
  const std::string unit = upper_name(unit_name(fact.unit));
  return unit.empty() ? name : name + "_" + unit;
}

class Variables {
 public:
  void add(const std::string& name, const std::string& value) {
    text_ += fmt::format("export {}={}\n", name, shell_word(value));
  }
  void add(const Fact& fact) {
    std::string name = name_of_fact(fact);
    const int number = ++seen_[name];
    if (number > 1) name += fmt::format("_NUMBER_{}", number);
    add(name, fmt::format("{}", fact.estimate.value));
    if (!fact.estimate.low || !fact.estimate.high) return;
    add(name + "_LOW", fmt::format("{}", *fact.estimate.low));
    add(name + "_HIGH", fmt::format("{}", *fact.estimate.high));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::map<std::string, int> seen_;
};

Expected<Exported> export_env(const ExportInput& input) {
  Variables variables;
  bool complete = true;
  std::string hosts, started, version, engine;
  for (const StoredRun& run : input.stored.runs) {
    complete = complete && run.complete;
    if (!hosts.empty()) continue;
    hosts = fmt::format("{}", fmt::join(run.hosts, " "));
    started = run.started;
    version = run.version;
    engine = run.engine;
  }
  variables.add("NUMATLAS_FACT_HOSTS", hosts);
  variables.add("NUMATLAS_FACT_STARTED", started);
  variables.add("NUMATLAS_FACT_VERSION", version);
  variables.add("NUMATLAS_FACT_ENGINE", engine);
  variables.add("NUMATLAS_FACT_COMPLETE", complete ? "1" : "0");
  for (const ExportedFact& one : facts_of(input)) variables.add(*one.fact);
  return Exported{variables.text(), {}};
}

}  // namespace

ExportForm env_form() {
  return {"env", "variables of a shell, NUMATLAS_FACT_*", false, true, export_env};
}

}  // namespace numatlas
