#include "comm/launcher.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/test_folder.h"
#include "comm/mpi/plugin.h"

namespace numatlas {
namespace {

/// Of variables as a shell has them: "NAME=VALUE NAME=VALUE"; of two of a name the later one.
EnvironmentLookup lookup(const std::string& line) {
  std::map<std::string, std::string> environment;
  std::istringstream words(line);
  for (std::string word; words >> word;)
    environment[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  return [environment](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
}

#define SLURM_STEP                                                                \
  "SLURM_PROCID=5 SLURM_LOCALID=1 SLURM_NODEID=1 SLURM_NTASKS=9 SLURM_STEP_ID=2 " \
  "SLURM_STEP_NUM_TASKS=7 SLURM_STEP_TASKS_PER_NODE=4,3 "

/// "Slurm: rank 5 of 7, local 1 of 3, by SLURM_PROCID"; "-" for what is not known.
std::string task_text(const LauncherTask& task) {
  if (!task.launched()) return "";
  const auto number = [](const std::optional<int>& one) {
    return one ? std::to_string(*one) : std::string("-");
  };
  return task.launcher + ": rank " + number(task.rank) + " of " + number(task.size) + ", local " +
         number(task.local_rank) + " of " + number(task.local_size) + ", by " + task.rank_variable;
}

TEST(Launcher, IsReadFromItsVariables) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_SIZE=8 "
       "OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_RANK=3",
       "Open MPI: rank 3 of 8, local 1 of 2, by OMPI_COMM_WORLD_RANK"},
      {"PMI_RANK=2 PMI_SIZE=4 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=2",
       "MPICH: rank 2 of 4, local 0 of 2, by PMI_RANK"},
      {"PMI_RANK=2 PMI_SIZE=4", "MPICH: rank 2 of 4, local - of -, by PMI_RANK"},
      {"PMI_RANK=2 PMI_SIZE=4 PMI_LOCAL_RANK=1 PMI_LOCAL_SIZE=2",
       "Cray: rank 2 of 4, local 1 of 2, by PMI_RANK"},
      {"PALS_RANKID=6 PALS_LOCAL_RANKID=2 PMI_SIZE=8 PMI_RANK=6",
       "PALS: rank 6 of 8, local 2 of -, by PALS_RANKID"},
      {"PMIX_RANK=1", "PMIx: rank 1 of -, local - of -, by PMIX_RANK"},
      {"FLUX_TASK_RANK=1 FLUX_TASK_LOCAL_ID=0 FLUX_JOB_SIZE=2 PMI_RANK=1",
       "Flux: rank 1 of 2, local 0 of -, by FLUX_TASK_RANK"},
      {"MV2_COMM_WORLD_RANK=1 MV2_COMM_WORLD_LOCAL_RANK=1 MV2_COMM_WORLD_SIZE=2 "
       "MV2_COMM_WORLD_LOCAL_SIZE=2",
       "MVAPICH2: rank 1 of 2, local 1 of 2, by MV2_COMM_WORLD_RANK"},
      {"JSM_NAMESPACE_RANK=1 JSM_NAMESPACE_LOCAL_RANK=1 JSM_NAMESPACE_SIZE=2 "
       "JSM_NAMESPACE_LOCAL_SIZE=2",
       "jsrun: rank 1 of 2, local 1 of 2, by JSM_NAMESPACE_RANK"},
      {SLURM_STEP, "Slurm: rank 5 of 7, local 1 of 3, by SLURM_PROCID"},
      {SLURM_STEP "PMI_RANK=5 PMI_SIZE=7", "Slurm: rank 5 of 7, local 1 of 3, by SLURM_PROCID"},
      {SLURM_STEP "PMIX_RANK=5 PMIX_NAMESPACE=slurm.pmix.77.2",
       "Slurm: rank 5 of 7, local 1 of 3, by SLURM_PROCID"},
      {SLURM_STEP "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2",
       "Open MPI: rank 1 of 2, local - of -, by OMPI_COMM_WORLD_RANK"},
      // Scripts of jobs are no steps.
      {"SLURM_PROCID=0 SLURM_NTASKS=9", ""},
      {SLURM_STEP "SLURM_STEP_ID=4294967291", ""},
      {SLURM_STEP "SLURM_STEP_ID=4294967290", ""},
      {SLURM_STEP "SLURM_STEP_ID=batch", ""},
      {"SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_STEPID=0",
       "Slurm: rank 1 of 2, local - of -, by SLURM_PROCID"},
      {"OMPI_COMM_WORLD_RANK=x", ""},
      {"PMI_RANK=-1", ""},
      {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4x OMPI_COMM_WORLD_LOCAL_SIZE=0 "
       "OMPI_COMM_WORLD_LOCAL_RANK=",
       "Open MPI: rank 1 of -, local - of -, by OMPI_COMM_WORLD_RANK"}};
  for (const auto& [line, task] : cases)
    EXPECT_EQ(task_text(detect_launcher(lookup(line))), task) << line;
}

TEST(TasksPerNode, ReadsRepeats) {
  EXPECT_EQ(parse_tasks_per_node("4(x2),3", 0), 4);
  EXPECT_EQ(parse_tasks_per_node("4(x2),3", 1), 4);
  EXPECT_EQ(parse_tasks_per_node("4(x2),3", 2), 3);
  EXPECT_EQ(parse_tasks_per_node("4(x2),3", 3), std::nullopt);
  EXPECT_EQ(parse_tasks_per_node("128", 0), 128);
  EXPECT_EQ(parse_tasks_per_node("2(x1000)", 999), 2);
}

TEST(TasksPerNode, RefusesOtherText) {
  for (const char* text :
       {"", "x", "4(x)", "4(x2", "4(2)", "4,", ",4", "0", "-1", "4(x0)", "4 ,3"}) {
    EXPECT_EQ(parse_tasks_per_node(text, 0), std::nullopt) << text;
  }
}

TEST(Reporting, IsRankZeros) {
  LauncherTask task;
  EXPECT_TRUE(should_report(task));
  task.rank = 0;
  EXPECT_TRUE(should_report(task));
  task.rank = 3;
  EXPECT_FALSE(should_report(task));
}

TEST(PluginChoice, FollowsTheWiring) {
  EXPECT_EQ(detect_wiring(lookup("")), Wiring::none);
  EXPECT_EQ(detect_wiring(lookup(SLURM_STEP)), Wiring::none);
  EXPECT_EQ(detect_wiring(lookup("PMIX_RANK=0")), Wiring::pmix);
  EXPECT_EQ(detect_wiring(lookup("PMI_FD=3")), Wiring::pmi);
  const std::vector<MpiPlugin> plugins = {{"cray", "", ""}, {"mpich", "", ""}, {"openmpi", "", ""}};
  EXPECT_EQ(by_preference(plugins, Wiring::pmix).front().name, "openmpi");
  EXPECT_EQ(by_preference(plugins, Wiring::pmi).front().name, "cray");
  EXPECT_EQ(by_preference(plugins, Wiring::pmi).back().name, "openmpi");
}

TEST(PluginChoice, ShortNames) {
  EXPECT_EQ(short_library_name("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"),
            "Open MPI 4.1.4");
  EXPECT_EQ(short_library_name("MPICH Version:\t4.0.2\nMPICH Release date:\tx"), "MPICH 4.0.2");
  EXPECT_EQ(short_library_name("MPI VERSION    : CRAY MPICH version 8.1.4.31 (ANL base 3.3)"),
            "Cray MPICH 8.1.4.31");
  EXPECT_EQ(short_library_name("Intel(R) MPI Library 2021.5 for Linux* OS"), "Intel MPI 2021.5");
  EXPECT_EQ(short_library_name("Some MPI 1\nmore"), "Some MPI 1");
}

TEST(PluginFiles, AreFoundOnceAndOnlyWhereTheyAre) {
  const std::vector<PluginFolder> nowhere = {{"/nonexistent/directory", "/nonexistent"}};
  EXPECT_TRUE(find_mpi_plugins(nowhere).empty());
  const auto problem = load_mpi_plugin({"ghost", "/nonexistent/numatlas_mpi_ghost.so", ""});
  ASSERT_FALSE(problem);
  EXPECT_EQ(problem.error().kind, ErrorKind::unavailable);
  EXPECT_NE(full_text(problem.error()).find("ghost"), std::string::npos);
}

TEST(PluginFiles, OfATrustedFolderReplaceThoseOfAnother) {
  namespace fs = std::filesystem;
  const testing::TestFolder folder;
  const fs::path& top = folder.path();
  for (const char* part : {"theirs", "own"}) {
    fs::create_directory(top / part);
    fs::permissions(top / part, fs::perms(0755));
    for (const char* name : {"openmpi", "aaa"}) {
      const fs::path file = top / part / (std::string("numatlas_mpi_") + name + ".so");
      std::ofstream(file) << "no library";
      fs::permissions(file, fs::perms(0644));
    }
  }
  fs::permissions(top / "theirs", fs::perms(0777));
  const auto in = [&](const char* part) {
    return PluginFolder{(top / part).string(), (top / part).string()};
  };
  const std::vector<PluginFolder> folders = {in("theirs"), in("own")};
  const auto plugins = find_mpi_plugins(folders);
  ASSERT_EQ(plugins.size(), 1U) << "this build has no plug-in of the other name";
  EXPECT_EQ(plugins[0].path, (top / "own/numatlas_mpi_openmpi.so").string());
  EXPECT_EQ(plugins[0].problem, "");
  // A folder that the user named is the user's word.
  const std::vector<PluginFolder> named = {{(top / "theirs").string(), ""}};
  EXPECT_EQ(find_mpi_plugins(named)[0].problem, "");
}

}  // namespace
}  // namespace numatlas
