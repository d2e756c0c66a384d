// STREAM over hosts for scripts: lines of key=value.
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "analysis/passes.h"
#include "benchmarks/stream/summary.h"

namespace numatlas {
namespace {

/// Values are single words: what would end one is replaced.
std::string line_word(std::string text) {
  for (char& c : text)
    if (c == ' ' || c == '=' || c == '\n' || c == '\t') c = '_';
  return text.empty() ? "-" : text;
}

std::string kernel_words(const ScenarioResult& one) {
  return fmt::format("kernel={} mode={} stores={}", line_word(one.kernel),
                     line_word(label_of(one, mode_label)), line_word(one.stores));
}

std::string row_words(const char* of, const TimeRow& row) {
  std::string text =
      fmt::format(" {0}_average_bytes_per_second={1:.0f} {0}_minimum_bytes_per_second={2:.0f}", of,
                  row.average_rate, row.minimum_rate);
  text += fmt::format(" {}_maximum_bytes_per_second={:.0f}", of, row.maximum_rate);
  if (row.median) {
    text += fmt::format(" {0}_median_bytes_per_second={1:.0f}", of, row.median->value);
    if (row.median->low) {
      text += fmt::format(
          " {0}_median_low_bytes_per_second={1:.0f} {0}_median_high_bytes_per_second={2:.0f}", of,
          *row.median->low, *row.median->high);
    }
  }
  return text + fmt::format(
                    " {0}_average_seconds={1:.9g} {0}_maximum_seconds={2:.9g} "
                    "{0}_minimum_seconds={3:.9g}",
                    of, row.average, row.maximum, row.minimum);
}

}  // namespace

std::string stream_lines(const RunReport& report, const SlowReport& slow) {
  std::string text;
  const auto rows = rows_of(report);  // of the first cases: findings follow
  const std::size_t rounds = finished_rounds(report);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]) continue;
    text += fmt::format("numatlas_stream hosts={} {} rounds={}{}{} node_slowest_host={}",
                        report.hosts.size(), kernel_words(report.scenarios[i]), rounds,
                        row_words("process", rows[i]->process), row_words("node", rows[i]->host),
                        line_word(report.hosts[rows[i]->host.slowest_host]));
    if (rows[i]->process.slowest_rank >= 0)
      text += fmt::format(" process_slowest_rank={} process_slowest_host={}",
                          rows[i]->process.slowest_rank,
                          line_word(report.hosts[rows[i]->process.slowest_host]));
    text += '\n';
  }
  for (const SlowHost& host : slow.hosts) {
    const auto line = [&](const std::string& kernel, const auto& its, const char* evidence) {
      text += fmt::format(
          "numatlas_stream_slow host={} {} drop_percent={:.2f} mads={:.2f} rounds={} "
          "slow_rounds={} evidence={} verdict={}\n",
          line_word(report.hosts[host.host]), kernel, its.drop * 100, its.mads, its.rounds,
          its.slow_rounds, evidence, name_of(host.verdict));
    };
    for (const SlowKernel& kernel : host.kernels)
      line(kernel_words(report.scenarios[kernel.kernel]), kernel, name_of(kernel.evidence));
    if (host.together) line("kernel=all mode=all stores=all", *host.together, "together");
  }
  return text + fmt::format("numatlas_stream_summary hosts={} judged={} slow={} complete={}\n",
                            report.hosts.size(), slow.judged, slow.slow(),
                            report.complete ? "yes" : "no");
}

}  // namespace numatlas
