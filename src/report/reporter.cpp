#include "report/reporter.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/text.h"
#include "record/drawn.h"
#include "record/report_json.h"
#include "report/answer.h"
#include "report/csv.h"
#include "report/notes.h"
#include "report/openmetrics.h"
#include "report/text_table.h"
#include "report/view_text.h"

namespace numatlas {
namespace {

/// What stands above the tables, in one line: for logs, health checks and a scheduler's reason.
std::string line_text(const RunReport& report) {
  std::string line = answer_text(report);
  if (line.empty()) line = "nothing was measured\n";
  std::replace(line.begin(), line.end() - 1, '\n', ' ');
  return line;
}

/// Tables for issue trackers and web pages: those of `table`, as GitHub's Markdown.
std::string markdown_text(const RunReport& report, const TextStyle& asked) {
  TextStyle style = asked;
  style.markdown = true;
  style.color = false;
  return tables_text(report, style);
}

}  // namespace

std::string first_table_csv(const RunReport& report) {
  if (report.views.empty()) return "";
  return shows_hosts_apart(report) ? view_csv(HostParts(report).of(0), report.views.front())
                                   : view_csv(report, report.views.front());
}

std::string tables_text(const RunReport& report, const TextStyle& asked) {
  TextStyle style = asked;
  style.in_brackets = !distrust_of(report).empty();
  const bool by_host = shows_hosts_apart(report);
  std::string text;
  const std::optional<HostParts> parts = by_host ? std::optional<HostParts>(report) : std::nullopt;
  for (std::size_t host = 0; parts && host < report.hosts.size(); ++host) {
    const RunReport part = parts->of(static_cast<int>(host));
    text += fmt::format("{}Host {}\n\n", style.markdown ? "## " : "", report.hosts[host]) +
            views_text(part, report.views, style);
  }
  if (!by_host) text += views_text(report, report.views, style);
  if (style.stats) text += stats_text(report, style);
  const std::string answer = answer_text(report);
  // What was measured has its doubt above; what compares or judges has told what it was asked.
  const bool all = style.stats || style.all_notes || style.markdown || !report.answer.empty();
  const std::string notes =
      all ? notes_text(report, style.stats) : short_notes_text(report, answer);
  text += style.markdown ? markdown_lines(notes) : wrapped(notes, style.width);
  return wrapped(answer, style.width) + (answer.empty() || text.empty() ? "" : "\n") + text;
}

const std::vector<Reporter>& reporters() {
  static const std::vector<Reporter> all{
      {"table", tables_text},
      {"csv", [](const RunReport& report, const TextStyle&) { return tidy_csv(report); }},
      {"json", [](const RunReport& report, const TextStyle&) { return json_text(report); }},
      {"line", [](const RunReport& report, const TextStyle&) { return line_text(report); }},
      {"markdown", markdown_text},
      {"openmetrics", [](const RunReport& report, const TextStyle& style) {
         return report_openmetrics(report, style.labels);
       }}};
  return all;
}

std::vector<std::string> reporter_names() {
  std::vector<std::string> names;
  for (const Reporter& reporter : reporters()) names.emplace_back(reporter.name);
  return names;
}

std::string text_in(std::string_view format, const RunReport& report, const TextStyle& style) {
  const auto found = std::ranges::find(reporters(), format, &Reporter::name);
  return found == reporters().end() ? "" : found->text(report, style);
}

}  // namespace numatlas
