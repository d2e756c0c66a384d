#include "audit/formats.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audit/rules.h"
#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "machine/source.h"
#include "record/report_fields.h"
#include "record/report_json.h"
#include "report/answer.h"
#include "report/openmetrics.h"

namespace numatlas {

namespace fields {
template <>
struct EnumNames<ClaimOutcome> {
  using enum ClaimOutcome;
  static constexpr EnumName<ClaimOutcome> values[] = {
      {confirmed, "confirmed"}, {contradicted, "contradicted"}, {not_measurable, "not_measurable"}};
};
}  // namespace fields

void list_fields(auto& f, fields::Of<ClaimVerdict> auto& v) {
  f("claim", v.claim, "as --only names it");
  f("about", v.about, "which of these");
  f("outcome", v.outcome, "confirmed, contradicted, not_measurable");
  f("claimed", v.claimed, "for people");
  f("claimed_value", v.claimed_value, "the same, in `unit`");
  f("found", v.found, "for people");
  f("measured", v.measured, "the same, where it is a figure");
  f("unit", v.unit, "SI; 1 for ratios");
  f("next", v.next, "of a contradicted claim: what to check next");
  f("reason", v.reason, "why it is not measurable");
}

namespace {

using nlohmann::json;

// Slurm and NHC keep more, but show about as much on one line.
constexpr std::size_t most_summary = 200;

constexpr std::array outcomes{ClaimOutcome::contradicted, ClaimOutcome::confirmed,
                              ClaimOutcome::not_measurable};

/// At most so many bytes, and no part of a character.
std::string shortened_to(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

/// "hmat node 2 latency: 1.40 times node 0's, claimed 2.43": what somebody has to know first.
std::string short_text(const ClaimVerdict& verdict) {
  constexpr std::size_t most = 120;
  const std::string& found = verdict.short_found.empty() ? verdict.found : verdict.short_found;
  return shortened_to(fmt::format("{} {}: {}", verdict.claim, verdict.about, found), most);
}

std::string table_text(const AuditReport& report, std::size_t width) {
  std::string text = wrapped(summary_line(report) + "\n", width);
  std::vector<std::vector<std::string>> rows;
  // What somebody has to do something about comes first.
  for (const ClaimOutcome outcome : outcomes) {
    for (const ClaimVerdict& verdict : report.verdicts) {
      if (verdict.outcome == outcome)
        rows.push_back({name_of(outcome), verdict.claim, verdict.about, to_text(verdict)});
    }
  }
  text += aligned_within(rows, width);
  if (!report.stopped.empty())
    text +=
        fmt::format("note: incomplete: {}; judged by what was measured before\n", report.stopped);
  if (report.null_engine) text += fmt::format("note: {}\n", null_engine_note);
  for (const SkippedBenchmark& one : report.skipped)
    text += fmt::format("note: {} did not run: {}\n", one.benchmark, one.reason);
  return text;
}

std::string json_text_of(const AuditReport& report) {
  json skipped = json::array();
  for (const SkippedBenchmark& one : report.skipped)
    skipped.push_back({{"benchmark", one.benchmark}, {"reason", one.reason}});
  const json document = {{"schema_version", schema_version},
                         {"program", "numatlas"},
                         {"command", "audit"},
                         {"version", version},
                         {"arguments", report.arguments},
                         {"started", report.started},
                         {"seconds", report.seconds},
                         {"time_asked", report.time_asked},
                         {"complete", report.stopped.empty()},
                         {"incomplete_reason", report.stopped},
                         {"machine", to_json(report.machine)},
                         {"summary", summary_line(report)},
                         {"verdicts", fields::to_json(report.verdicts)},
                         {"results", nullptr},
                         {"skipped", std::move(skipped)}};
  return pretty_part(document, 0, {results_member(report.reports)}) + '\n';
}

std::string metrics_text(const AuditReport& report) {
  Gauge claims("numatlas_audit_claims", "", "Claims of the last audit by outcome.");
  for (const ClaimOutcome outcome : outcomes)
    claims.add({{"outcome", fields::name_in_record(outcome)}},
               static_cast<double>(report.count(outcome)));
  Gauge contradicted("numatlas_audit_contradicted", "",
                     "1 where a claim was contradicted, 0 where it was confirmed.");
  Gauge measured("numatlas_audit_measured", "",
                 "What a claim was held against, in the unit of the label.");
  for (const ClaimVerdict& verdict : report.verdicts) {
    if (verdict.outcome == ClaimOutcome::not_measurable) continue;
    const MetricLabels labels{{"claim", verdict.claim}, {"about", verdict.about}};
    contradicted.add(labels, verdict.outcome == ClaimOutcome::contradicted ? 1 : 0);
    if (!verdict.measured) continue;
    const auto add = [&](const char* part, double value) {
      MetricLabels all = labels;
      all.insert(all.end(), {{"unit", verdict.unit.symbol()}, {"part", part}});
      measured.add(all, value);
    };
    add("value", verdict.measured->value);
    if (verdict.measured->low) add("low", *verdict.measured->low);
    if (verdict.measured->high) add("high", *verdict.measured->high);
  }
  Gauge ended("numatlas_audit_end_timestamp_seconds", "seconds", "When the last audit ended.");
  if (const auto start = unix_seconds(report.started))
    ended.add({}, static_cast<double>(*start) + report.seconds);
  return claims.text() + contradicted.text() + measured.text() + ended.text() + "# EOF\n";
}

struct AuditFormat {
  const char* name;
  std::string (*text)(const AuditReport& report, std::size_t width);
};

constexpr std::array<AuditFormat, 4> formats{
    {{"table", table_text},
     {"json", [](const AuditReport& report, std::size_t) { return json_text_of(report); }},
     {"nhc", [](const AuditReport& report, std::size_t) { return summary_line(report) + "\n"; }},
     {"openmetrics", [](const AuditReport& report, std::size_t) { return metrics_text(report); }}}};

}  // namespace

std::string summary_line(const AuditReport& report) {
  const std::size_t all = report.verdicts.size(), wrong = report.count(ClaimOutcome::contradicted),
                    right = report.count(ClaimOutcome::confirmed);
  const std::string reserve = reserve_text(distrust_of(report.reports), report.stopped);
  const std::string head = "numatlas audit:" + (reserve.empty() ? "" : " " + reserve + ";");
  if (wrong == 0 && right == 0) {
    return head + (all == 1 ? " the claim could not be judged"
                            : fmt::format(" none of {} claims could be judged", all));
  }
  if (wrong == 0)
    return fmt::format("{} {} of {} confirmed, none contradicted", head, right,
                       count_text(all, "claim"));
  std::string line =
      fmt::format("{} {} of {} contradicted:", head, wrong, count_text(all, "claim"));
  std::size_t told = 0;
  for (const ClaimVerdict& verdict : report.verdicts) {
    if (verdict.outcome != ClaimOutcome::contradicted) continue;
    const std::string more = (told == 0 ? " " : "; ") + short_text(verdict);
    if (told > 0 && line.size() + more.size() > most_summary)
      return line + fmt::format("; and {} more", wrong - told);
    line += more;
    ++told;
  }
  return shortened_to(std::move(line), most_summary + 20);
}

std::vector<std::string> audit_formats() {
  std::vector<std::string> names;
  for (const AuditFormat& one : formats) names.emplace_back(one.name);
  return names;
}

std::string audit_text(const AuditReport& report, const std::string& format, std::size_t width) {
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](const AuditFormat& one) { return format == one.name; });
  return found == formats.end() ? "" : found->text(report, width);
}

}  // namespace numatlas
