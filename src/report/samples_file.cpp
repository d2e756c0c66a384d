#include "report/samples_file.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace numatlas {
namespace {

void append(std::string& bytes, double value) {
  auto bits = std::bit_cast<std::uint64_t>(value);
  for (std::size_t i = 0; i < sizeof bits; ++i) {
    bytes.push_back(static_cast<char>(bits & 0xff));
    bits >>= 8;
  }
}

}  // namespace

std::string samples_file(const RunReport& report) {
  nlohmann::json flows = nlohmann::json::array();
  std::string samples;
  for (std::size_t i = 0; i < report.scenarios.size(); ++i) {
    for (const FlowResult& flow : report.scenarios[i].flows) {
      if (flow.samples.empty()) continue;
      const Figure& figure = flow.figures.front();
      flows.push_back({{"case", i},
                       {"name", report.scenarios[i].name},
                       {"worker", flow.worker},
                       {"figure", figure.key},
                       {"unit", figure.unit.symbol()},
                       {"count", flow.samples.size()}});
      for (const double sample : flow.samples) append(samples, sample);
    }
  }
  const std::string index = json_line(
      {{"command", report.command}, {"started", report.started}, {"flows", std::move(flows)}});
  return fmt::format("NUMATLAS-SAMPLES 1\n{}\n{}\n", index.size(), index) + samples;
}

}  // namespace numatlas
