#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/signals.h"
#include "comm/launcher.h"
#include "commands/command.h"
#include "machine/source.h"
#include "report/topology_table.h"
#include "run/declare.h"
#include "run/options.h"
#include "run/place_words.h"

namespace numatlas {
namespace {

struct TopologyOptions {
  std::string machine, format = "table";
  bool per_cpu = false, dry_run = false;
};

Expected<int> run(const TopologyOptions& options) {
  install_signal_handlers();
  if (!should_report(detect_launcher())) return 0;  // of many ranks the first one prints
  const auto machine = TRY(machine_of_option(options.machine));
  return answer(options.format == "json" ? pretty(to_json(machine))
                                         : topology_table(machine, options.per_cpu));
}

Start declare_topology(CLI::App& app, const CommandLine&) {
  auto options = std::make_shared<TopologyOptions>();
  add_choice(app, "--format", options->format, named({"table", "json"}),
             "format of standard output; json is a snapshot that --machine reads");
  app.add_flag("--per-cpu", options->per_cpu, "also print the core, socket and node of each CPU");
  app.add_flag("--dry-run", options->dry_run, "accepted for consistency; nothing is measured");
  add_machine_option(app, options->machine);
  return [options] { return run(*options); };
}

}  // namespace

Command topology_command() {
  return {.name = "topology",
          .summary = "show nodes, CPUs, caches, memory, kernel settings",
          .listing = {Topic::machine},
          .examples = {{"This machine", "numatlas topology"},
                       {"A machine recorded elsewhere by topology --format json",
                        "numatlas topology --machine node.json"}},
          .declare = declare_topology};
}

}  // namespace numatlas
