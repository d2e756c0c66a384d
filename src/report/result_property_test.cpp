#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "report/csv.h"
#include "report/test_report.h"

namespace numatlas {
namespace {

using nlohmann::json;

double some_number() {
  // Exact in a double, of every size and sign.
  return std::ldexp(*rc::gen::inRange(-1'000'000, 1'000'000), *rc::gen::inRange(-60, 60));
}
template <class T, class F>
std::optional<T> maybe(F make) {
  return *rc::gen::arbitrary<bool>() ? std::optional<T>(make()) : std::nullopt;
}
std::uint64_t some_count() { return *rc::gen::arbitrary<std::uint64_t>(); }
/// ASCII and some letters that JSON must escape.
std::string some_text() {
  return *rc::gen::container<std::string>(
      rc::gen::element('a', 'Z', '0', ' ', ',', '"', '\\', '\n', '\t', '\x01', '/'));
}

FlowResult some_flow() {
  FlowResult f;
  f.worker = *rc::gen::inRange(0, 100'000);
  f.kernel = some_text();
  f.mix = some_text();
  f.stores = some_text();
  f.order = some_text();
  f.stride = Bytes{some_count()};
  f.size = Bytes{some_count()};
  f.memory = some_text();
  f.source_memory = some_text();
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    Metric metric{some_text(), some_text(), maybe<double>(some_number), std::nullopt};
    std::vector<double> samples(static_cast<std::size_t>(*rc::gen::inRange(0, 12)));
    for (double& sample : samples) sample = some_number();
    metric.summary = summarize(samples);
    f.metrics.push_back(metric);
    f.samples = samples;
  }
  f.stop = some_text();
  f.half_width = maybe<double>(some_number);
  f.overlap = maybe<double>(some_number);
  f.address = some_count();
  f.cpu_before = maybe<CpuId>([] { return CpuId{*rc::gen::inRange(0, 5000)}; });
  f.cpu_after = maybe<CpuId>([] { return CpuId{*rc::gen::inRange(0, 5000)}; });
  f.level = some_text();
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    f.residency.pages_by_node[*rc::gen::inRange(0, 2000)] = some_count();
  }
  f.residency.pages_total = some_count();
  f.residency.page_size = maybe<Bytes>([] { return Bytes{some_count()}; });
  f.residency.thp_fraction = maybe<double>(some_number);
  f.residency.problem = some_text();
  f.residency.told_by = *rc::gen::element<std::string>("", "device", "devices");
  f.policy = {some_text(), some_text()};
  f.steps_a_sample = some_count();
  f.timer_overhead = some_number();
  f.warnings = {some_text(), some_text()};
  return f;
}

RC_GTEST_PROP(ResultProperty, FlowsReadBackAsWritten, ()) {
  const json written = to_json(some_flow());
  const std::string text = written.dump();
  RC_ASSERT(to_json(flow_from_json(json::parse(text))) == written);
}

/// Reads one record as RFC 4180 has it.
std::vector<std::string> fields_of(const std::string& record) {
  std::vector<std::string> fields{""};
  bool quoted = false;
  for (std::size_t i = 0; i < record.size(); ++i) {
    if (quoted && record[i] == '"' && i + 1 < record.size() && record[i + 1] == '"') {
      fields.back() += record[i++];
    } else if (record[i] == '"') {
      quoted = !quoted;
    } else if (record[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += record[i];
    }
  }
  return fields;
}

RC_GTEST_PROP(ResultProperty, CsvFieldsReadBackAsWritten, ()) {
  std::vector<std::string> fields(static_cast<std::size_t>(*rc::gen::inRange(1, 6)));
  std::string record;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i] = some_text();
    record += (i == 0 ? "" : ",") + csv_field(fields[i]);
  }
  RC_ASSERT(fields_of(record) == fields);
}

}  // namespace
}  // namespace numatlas
