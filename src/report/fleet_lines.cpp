#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "fleet/summary.h"
#include "record/report_fields.h"
#include "report/csv.h"
#include "report/fleet_writers.h"

namespace numatlas {
namespace {

/// Values are single words: what would end one is replaced.
std::string line_word(std::string text) {
  for (char& c : text)
    if (c == ' ' || c == '=' || c == '\n' || c == '\t') c = '_';
  return text.empty() ? "-" : text;
}

std::string kernel_words(const FleetKernel& kernel) {
  return fmt::format("kernel={} mode={} stores={}", line_word(kernel.name), line_word(kernel.mode),
                     line_word(kernel.stores));
}

std::string row_words(const char* of, const TimeRow& row) {
  std::string text =
      fmt::format(" {0}_average_bytes_per_second={1:.0f} {0}_minimum_bytes_per_second={2:.0f}", of,
                  row.average_rate, row.minimum_rate);
  if (row.maximum_rate > 0)  // else not known
    text += fmt::format(" {}_maximum_bytes_per_second={:.0f}", of, row.maximum_rate);
  if (row.median) {
    text += fmt::format(" {0}_median_bytes_per_second={1:.0f}", of, row.median->value);
    if (row.median->low) {
      text += fmt::format(
          " {0}_median_low_bytes_per_second={1:.0f} {0}_median_high_bytes_per_second={2:.0f}", of,
          *row.median->low, *row.median->high);
    }
  }
  text += fmt::format(" {0}_average_seconds={1:.9g} {0}_maximum_seconds={2:.9g}", of, row.average,
                      row.maximum);
  if (row.minimum > 0) text += fmt::format(" {}_minimum_seconds={:.9g}", of, row.minimum);
  return text;
}

}  // namespace

std::string fleet_lines(const RunReport& run) {
  const Fleet& fleet = *run.fleet;
  std::string text;
  const auto rows = rows_of(fleet);
  const std::size_t rounds = finished_rounds(fleet);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i]) continue;
    text += fmt::format("numatlas_stream hosts={} {} rounds={}{}{} node_slowest_host={}",
                        fleet.hosts.size(), kernel_words(fleet.kernels[i]), rounds,
                        row_words("process", rows[i]->process), row_words("node", rows[i]->host),
                        line_word(fleet.hosts[rows[i]->host.slowest_host].name));
    if (rows[i]->process.slowest_rank >= 0)
      text += fmt::format(" process_slowest_rank={} process_slowest_host={}",
                          rows[i]->process.slowest_rank,
                          line_word(fleet.hosts[rows[i]->process.slowest_host].name));
    text += '\n';
  }
  const SlowReport slow = fleet.slow.value_or(SlowReport{});
  for (const SlowHost& host : slow.hosts) {
    const auto line = [&](const std::string& kernel, const auto& its, const char* evidence) {
      text += fmt::format(
          "numatlas_stream_slow host={} {} drop_percent={:.2f} mads={:.2f} rounds={} "
          "slow_rounds={} evidence={} verdict={}\n",
          line_word(fleet.hosts[host.host].name), kernel, its.drop * 100, its.mads, its.rounds,
          its.slow_rounds, evidence, record::name_in_record(host.verdict));
    };
    for (const SlowKernel& kernel : host.kernels)
      line(kernel_words(fleet.kernels[kernel.kernel]), kernel,
           record::name_in_record(kernel.evidence));
    if (host.together) line("kernel=all mode=all stores=all", *host.together, "together");
  }
  return text + fmt::format("numatlas_stream_summary hosts={} judged={} slow={} complete={}\n",
                            fleet.hosts.size(), slow.judged, slow.slow(),
                            run.complete ? "yes" : "no");
}

std::string fleet_csv(const RunReport& run) {
  const Fleet& fleet = *run.fleet;
  std::string text =
      "host,cpu_model,kernel,mode,stores,round,counted,processes,bytes,start_seconds,node_seconds,"
      "slowest_seconds,fastest_seconds,process_average_seconds,overlap,slowest_rank,node_bytes_per_"
      "second\n";
  for (const FleetHost& host : fleet.hosts) {
    const HostKind& kind = fleet.kinds[host.kind];
    for (std::size_t i = 0; i < host.rounds.size(); ++i) {
      const FleetKernel& kernel = fleet.kernels[i];
      const std::string what =
          fmt::format("{},{},{},{},{}", csv_field(host.name), csv_field(kind.cpu_model),
                      csv_field(kernel.name), csv_field(kernel.mode), csv_field(kernel.stores));
      const std::size_t rounds = host.rounds[i].size();
      for (std::size_t round = 0; round < rounds; ++round) {
        const PassTimes& pass = host.rounds[i][round];
        const double bytes = bytes_of_host(fleet, host, i);
        text += fmt::format("{},{},{},{},{:.0f},{},{},{},{},{},{},{},{}\n", what, round,
                            round > 0 || rounds == 1 ? "yes" : "no", kind.processes, bytes,
                            pass.start, pass.node, pass.slowest, pass.fastest,
                            pass.sum / kind.processes, pass.overlap,
                            pass.slowest_rank < 0 ? "" : std::to_string(pass.slowest_rank),
                            pass.node > 0 ? fmt::format("{}", bytes / pass.node) : "");
      }
    }
  }
  return text;
}

}  // namespace numatlas
