#include "advise/launch.h"

#include <filesystem>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "advise/program.h"
#include "base/text.h"

namespace numatlas {
namespace {

using Words = std::vector<std::string>;

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

std::string line_of(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

Expected<LauncherKind> kind_of(const Words& words) {
  const std::string name = std::filesystem::path(words.front()).filename().string();
  if (name == "srun") return LauncherKind::srun;
  if (name != "mpirun" && name != "mpiexec" && !name.starts_with("mpirun.") &&
      !name.starts_with("mpiexec."))
    return fail_usage("--launcher", fmt::format("'{}' is not known", name),
                      "none, or srun, mpirun or mpiexec with options");
  RunRequest request;
  request.words = {words.front(), "--version"};
  request.keep_output = true;
  constexpr double most_seconds = 30;
  request.timeout = most_seconds;
  const auto run = run_program(request);
  if (!run) return fail(about("--launcher", run.error()));
  if (run->output.find("Open MPI") != std::string::npos ||
      run->output.find("OpenRTE") != std::string::npos)
    return LauncherKind::open_mpi;
  if (run->output.find("HYDRA") != std::string::npos) return LauncherKind::hydra;
  return fail_about(ErrorKind::unavailable, "--launcher",
                    fmt::format("{} is neither of Open MPI nor of MPICH", words.front()),
                    "use srun, or one of these");
}

/// The launcher does not bind where `numatlas exec` does.
Words unbound(LauncherKind kind) {
  switch (kind) {
    case LauncherKind::srun: return {"--cpu-bind=none", "--mem-bind=none"};
    case LauncherKind::open_mpi: return {"--bind-to", "none"};
    case LauncherKind::hydra: return {"-bind-to", "none"};
    case LauncherKind::none: break;
  }
  return {};
}

Words exec_words(const std::string& numatlas, const Candidate& candidate) {
  Words words{numatlas, "exec"};
  append(words,
         candidate.rank_options.empty() ? exec_options(candidate.layout) : candidate.rank_options);
  words.push_back("--");
  return words;
}

Words with_variables(const Candidate& candidate, const Words& program) {
  Words words = environment_words(candidate.layout);
  if (!words.empty()) words.insert(words.begin(), "env");
  append(words, program);
  return words;
}

/// Whether there is anything for `numatlas exec` to do.
bool is_placed(const Candidate& candidate) {
  return !candidate.rank_options.empty() || !exec_options(candidate.layout).empty();
}

/// Whether that places CPUs or memory, which the launcher must then leave alone.
bool binds(const Candidate& candidate) {
  return !candidate.rank_options.empty() || candidate.layout.cpus || candidate.layout.memory;
}

}  // namespace

Expected<Launch> parse_launch(const std::string& text, int ranks) {
  Launch launch;
  if (text == "none") {
    if (ranks > 0)
      return fail_usage("--ranks", "needs --launcher", "--launcher mpirun or --launcher srun");
    return launch;
  }
  std::istringstream words(text);
  launch.words.assign(std::istream_iterator<std::string>(words), {});
  if (launch.words.empty()) return fail_usage("--launcher", "is empty", "none, srun or mpirun");
  launch.kind = TRY(kind_of(launch.words));
  if (ranks < 1)
    return fail_usage("--launcher", "needs the number of ranks on this host", "--ranks N");
  launch.ranks = ranks;
  return launch;
}

std::vector<std::string> command_of(const Launch& launch, const Candidate& candidate,
                                    const std::vector<std::string>& program,
                                    const std::string& numatlas) {
  if (launch.kind == LauncherKind::none) return program;
  Words words = launch.words;
  append(words, {"-n", std::to_string(launch.ranks)});
  if (is_placed(candidate)) {
    if (binds(candidate)) append(words, unbound(launch.kind));
    append(words, exec_words(numatlas, candidate));
  }
  append(words, with_variables(candidate, program));
  return words;
}

ProgramLayout layout_of(const Launch& launch, const Candidate& candidate) {
  return launch.kind == LauncherKind::none ? candidate.layout : ProgramLayout{};
}

std::vector<ReadyLine> ready_lines(const Launch& launch, const Candidate& candidate,
                                   const std::vector<std::string>& program) {
  if (launch.kind != LauncherKind::none)
    return {{std::filesystem::path(launch.words.front()).filename().string(),
             line_of(command_of(launch, candidate, program, "numatlas"))}};
  std::vector<ReadyLine> lines;
  const Words placed = with_variables(candidate, program);
  if (is_placed(candidate)) {
    Words words = exec_words("numatlas", candidate);
    append(words, placed);
    lines.push_back({"numatlas exec", line_of(words)});
    // numactl places CPUs and memory; the pages are the environment's, or a system call's.
    ProgramLayout pages;
    pages.pages = candidate.layout.pages;
    const auto variables = as_environment(pages);
    if (auto options = numactl_options(candidate.layout); options && variables) {
      options->insert(options->begin(), "numactl");
      Words all = environment_words(candidate.layout);
      append(all, *variables);
      if (!all.empty()) options->push_back("env");
      append(*options, all);
      append(*options, program);
      lines.push_back({"numactl", line_of(*options)});
    }
  }
  if (const auto variables = as_environment(candidate.layout); variables && !variables->empty()) {
    Words words = {"env"};
    append(words, *variables);
    append(words, program);
    lines.push_back({"environment", line_of(words)});
  }
  return lines;
}

}  // namespace numatlas
