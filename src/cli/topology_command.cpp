#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/signals.h"
#include "benchmarks/options.h"
#include "cli/commands.h"
#include "comm/launcher.h"
#include "machine/source.h"
#include "report/file.h"
#include "report/topology_table.h"

namespace numatlas {
namespace {

struct TopologyOptions {
  std::string machine, format = "table";
  bool per_cpu = false, dry_run = false;
};

Expected<int> run(const TopologyOptions& options) {
  install_signal_handlers();
  if (options.format != "table" && options.format != "json") {
    return fail(ErrorKind::usage, "--format: '" + options.format + "' is not one of table, json");
  }
  if (!should_report(detect_launcher())) return 0;  // of many ranks the first one prints
  const auto machine =
      options.machine.empty() ? read_live_machine() : read_recorded_machine(options.machine);
  if (!machine) return fail(machine.error());
  const std::string text = options.format == "json" ? to_json(*machine).dump(1) + "\n"
                                                    : topology_table(*machine, options.per_cpu);
  if (auto shown = write_stdout(text); !shown) return fail(shown.error());
  return 0;
}

}  // namespace

Command add_topology_command(CLI::App& app) {
  auto options = std::make_shared<TopologyOptions>();
  app.add_option("--format", options->format, "table, or json (a snapshot that --machine reads)")
      ->type_name("FORMAT")
      ->capture_default_str();
  app.add_flag("--per-cpu", options->per_cpu, "a line a CPU: core, socket, node");
  app.add_flag("--dry-run", options->dry_run, "accepted everywhere; topology measures nothing");
  add_machine_option(app, options->machine);
  app.allow_extras();
  return [options] { return run(*options); };
}

}  // namespace numatlas
