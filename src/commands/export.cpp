// Stored figures for other software.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/read_file.h"
#include "base/terminal.h"
#include "comm/launcher.h"
#include "commands/command.h"
#include "export/export.h"
#include "machine/source.h"
#include "report/file.h"
#include "run/declare.h"
#include "run/options.h"
#include "run/place_words.h"

namespace numatlas {
namespace {

struct ExportOptions {
  std::string form, file, output, machine, machine_type;
  bool standard = false, quiet = false;
};

const ExportForm& form_of(const std::string& name) {
  const auto& forms = export_forms();
  return *std::find_if(forms.begin(), forms.end(),
                       [&](const ExportForm& form) { return name == form.name; });
}

Expected<void> check(const ExportOptions& options, const ExportForm& form) {
  const auto only = [&](const char* option, const std::string& forms) {
    return fail_usage(option, fmt::format("does not apply to '{}'", form.name),
                      "it is an option of " + forms);
  };
  if (options.standard && options.form != "hwloc") return only("--standard", "hwloc");
  if (!options.machine_type.empty() && options.form != "published")
    return only("--machine-type", "published");
  if (!options.machine.empty() && !form.takes_machine) {
    std::string takers;
    for (const ExportForm& one : export_forms())
      if (one.takes_machine) takers += (takers.empty() ? "" : " and ") + std::string(one.name);
    return only("--machine", takers);
  }
  if (options.file.empty() && form.needs_facts)
    return fail_usage("FILE", "is required: a survey.json, or a file that --json wrote",
                      fmt::format("numatlas export {} survey.json", form.name));
  if (options.output.empty()) return {};
  return check_writable({{"--output", options.output}}, {options.file, options.machine});
}

/// XML of hwloc: of --machine, else what a survey wrote beside its survey.json; "" for none.
Expected<std::string> topology_of(const ExportOptions& options) {
  namespace fs = std::filesystem;
  if (!options.machine.empty()) {
    auto xml = hwloc_xml(options.machine);
    if (!xml) return fail(about("--machine " + options.machine, xml.error()));
    return xml;
  }
  std::error_code error;
  const fs::path file = options.file;
  const fs::path folder = fs::is_directory(file, error) ? file : file.parent_path();
  return read_file((folder / "topology.xml").string(), "", "").value_or("");
}

Expected<ExportInput> input_of(const ExportOptions& options, const ExportForm& form) {
  ExportInput input;
  input.standard = options.standard;
  input.machine_spec = options.machine;
  input.machine_type = options.machine_type;
  if (!options.file.empty()) {
    input.stored = TRY(read_stored(options.file));
  }
  if (!options.machine.empty() || options.file.empty()) {
    input.machine = TRY(machine_of_option(options.machine));
    number_gpus(*input.machine, options.machine.empty());
  }
  if (options.form == "hwloc") input.topology = TRY(topology_of(options));
  if (form.needs_facts && facts_of(input).empty())
    return fail_about(ErrorKind::unavailable, input.stored.file,
                      "has no figures to export: its benchmarks came to no conclusion",
                      "see what it has with `numatlas compare` or `numatlas report`");
  return input;
}

Expected<int> run(const ExportOptions& options) {
  const ExportForm& form = form_of(options.form);
  if (!should_report(detect_launcher())) return 0;  // of many tasks the first one does it
  TRY(check(options, form));
  const auto input = TRY(input_of(options, form));
  const auto exported = TRY(form.write(input));
  TRY(options.output.empty() ? write_stdout(exported.text)
                             : write_whole(options.output, exported.text, "--output"));
  if (options.quiet) return 0;
  for (const std::string& note : exported.notes) say(fmt::format("numatlas: note: {}\n", note));
  return 0;
}

std::string forms_text() {
  std::string text;
  for (const ExportForm& form : export_forms())
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", form.name, form.summary);
  return text;
}

Start declare_export(CLI::App& app, const CommandLine&) {
  auto options = std::make_shared<ExportOptions>();
  add_choice(app, "FORM", options->form, named(export_form_names()), forms_text())->required();
  add_value(app, "FILE", options->file, "",
            "a survey.json, its folder, or JSON of a command that measures");
  add_value(app, "-o,--output", options->output, "FILE",
            "write to this file instead of standard output, completely or not at all");
  app.add_flag("--standard", options->standard,
               "hwloc: store hwloc's own attributes Latency and Bandwidth as well, in place of the "
               "firmware's claims");
  add_value(
      app, "--machine", options->machine, "FILE",
      "hwloc: the topology that gets the attributes, as `lstopo FILE.xml` writes it (default: "
      "topology.xml beside the result, where a survey writes it); gpu-nodes: the machine whose "
      "GPUs are shown");
  add_value(app, "--machine-type", options->machine_type, "NAME",
            "published: the cloud's name of the machine, where its firmware names no cloud");
  add_quiet(app, options->quiet);
  return [options] { return run(*options); };
}

}  // namespace

Command export_command() {
  return {.name = "export",
          .summary = "write stored figures for hwloc and inference servers",
          .listing = {Topic::other, true},
          .examples = {{"Measured memory attributes for programs that use hwloc",
                        "numatlas export hwloc survey.json -o machine.xml"},
                       {"An inference server with each worker near its GPU",
                        "numatlas export gpu-nodes survey.json"}},
          .declare = declare_export};
}

}  // namespace numatlas
