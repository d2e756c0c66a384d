#include "report/tables.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "base/text.h"
#include "report/answer.h"
#include "report/notes.h"
#include "report/text_table.h"
#include "report/view_text.h"

namespace numatlas {
namespace {

/// Whether each host has tables of its own.
bool shows_hosts_apart(const RunReport& report) {
  return report.hosts.size() > 1 &&
         std::ranges::any_of(report.views, [](const View& view) { return view.by_host; });
}

}  // namespace

std::string first_table_csv(const RunReport& report) {
  if (report.views.empty()) return "";
  return shows_hosts_apart(report) ? view_csv(of_host(report, 0), report.views.front())
                                   : view_csv(report, report.views.front());
}

std::string tables_text(const RunReport& report, const TextStyle& asked) {
  TextStyle style = asked;
  style.in_brackets = !distrust_of(report).empty();
  const bool by_host = shows_hosts_apart(report);
  std::string text;
  for (std::size_t host = 0; by_host && host < report.hosts.size(); ++host) {
    const RunReport part = of_host(report, static_cast<int>(host));
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

}  // namespace numatlas
