#include "survey/document.h"

#include <chrono>
#include <cstddef>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/version.h"
#include "machine/source.h"
#include "record/report_json.h"
#include "report/answer.h"

namespace numatlas {
namespace {

using nlohmann::json;

json optional_text(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

json plan_of(const SurveyRecord& record) {
  json plan = json::array();
  for (std::size_t i = 0; i < record.items.size(); ++i) {
    const SurveyItem& item = record.items[i];
    if (!item.skip.empty()) continue;
    plan.push_back({{"benchmark", item.benchmark},
                    {"arguments", item.words},
                    {"share", item.share},
                    {"seconds", record.taken[i]},
                    {"left_out", optional_text(item.left_out)}});
  }
  return plan;
}

}  // namespace

std::string document_text(const SurveyRecord& record, const SurveySummary& summary) {
  json skipped = json::array();
  for (const SkippedBenchmark& one : record.skipped)
    skipped.push_back({{"benchmark", one.benchmark}, {"reason", one.reason}});
  const Trust trust = trust_of(record.reports);
  json document = {{"schema_version", schema_version},
                   {"program", "numatlas"},
                   {"command", "survey"},
                   {"version", version},
                   {"arguments", record.options.arguments},
                   {"started", record.started},
                   {"seconds", record.seconds},
                   {"time_asked", std::chrono::duration<double>(record.options.time).count()},
                   {"complete", record.complete},
                   {"incomplete_reason", optional_text(record.incomplete_reason)},
                   {"machine", to_json(record.machine)},
                   {"plan", plan_of(record)},
                   {"results", nullptr},
                   {"skipped", std::move(skipped)},
                   {"notes", record.notes},
                   {"warnings", summary.warnings}};
  if (!trust.grade.empty()) {
    document["trust"] = trust.grade;
    document["doubt"] = optional_text(trust.doubt);
  }
  return pretty_part(document, 0, {results_member(record.reports)}) + '\n';
}

}  // namespace numatlas
