#include "comm/launcher.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "base/test_folder.h"
#include "comm/mpi/plugin.h"

namespace numatlas {
namespace {

using Environment = std::map<std::string, std::string>;

EnvironmentLookup lookup(const Environment& environment) {
  return [environment](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
}

struct Case {
  const char* name;
  Environment environment;
  std::string launcher;
  std::optional<int> rank, local_rank, size, local_size;
  std::string rank_variable;
};

const Environment slurm_step = {{"SLURM_PROCID", "5"},         {"SLURM_LOCALID", "1"},
                                {"SLURM_NODEID", "1"},         {"SLURM_NTASKS", "9"},
                                {"SLURM_STEP_NUM_TASKS", "7"}, {"SLURM_STEP_TASKS_PER_NODE", "4,3"},
                                {"SLURM_STEP_ID", "2"}};

Environment with(Environment base, const Environment& more) {
  for (const auto& [name, value] : more) base[name] = value;
  return base;
}

const Case cases[] = {
    {"nothing", {}, "", {}, {}, {}, {}, ""},
    {"open_mpi",
     {{"OMPI_COMM_WORLD_RANK", "3"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
      {"OMPI_COMM_WORLD_SIZE", "8"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
      {"PMIX_RANK", "3"}},
     "Open MPI",
     3,
     1,
     8,
     2,
     "OMPI_COMM_WORLD_RANK"},
    {"hydra",
     {{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "2"}},
     "MPICH",
     2,
     0,
     4,
     2,
     "PMI_RANK"},
    {"bare_pmi", {{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}}, "MPICH", 2, {}, 4, {}, "PMI_RANK"},
    {"cray",
     {{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}, {"PMI_LOCAL_RANK", "1"}, {"PMI_LOCAL_SIZE", "2"}},
     "Cray",
     2,
     1,
     4,
     2,
     "PMI_RANK"},
    {"pals",
     {{"PALS_RANKID", "6"}, {"PALS_LOCAL_RANKID", "2"}, {"PMI_SIZE", "8"}, {"PMI_RANK", "6"}},
     "PALS",
     6,
     2,
     8,
     {},
     "PALS_RANKID"},
    {"pmix", {{"PMIX_RANK", "1"}}, "PMIx", 1, {}, {}, {}, "PMIX_RANK"},
    {"flux",
     {{"FLUX_TASK_RANK", "1"},
      {"FLUX_TASK_LOCAL_ID", "0"},
      {"FLUX_JOB_SIZE", "2"},
      {"PMI_RANK", "1"}},
     "Flux",
     1,
     0,
     2,
     {},
     "FLUX_TASK_RANK"},
    {"mvapich",
     {{"MV2_COMM_WORLD_RANK", "1"},
      {"MV2_COMM_WORLD_LOCAL_RANK", "1"},
      {"MV2_COMM_WORLD_SIZE", "2"},
      {"MV2_COMM_WORLD_LOCAL_SIZE", "2"}},
     "MVAPICH2",
     1,
     1,
     2,
     2,
     "MV2_COMM_WORLD_RANK"},
    {"jsrun",
     {{"JSM_NAMESPACE_RANK", "1"},
      {"JSM_NAMESPACE_LOCAL_RANK", "1"},
      {"JSM_NAMESPACE_SIZE", "2"},
      {"JSM_NAMESPACE_LOCAL_SIZE", "2"}},
     "jsrun",
     1,
     1,
     2,
     2,
     "JSM_NAMESPACE_RANK"},
    {"slurm", slurm_step, "Slurm", 5, 1, 7, 3, "SLURM_PROCID"},
    {"slurm_pmi2", with(slurm_step, {{"PMI_RANK", "5"}, {"PMI_SIZE", "7"}}), "Slurm", 5, 1, 7, 3,
     "SLURM_PROCID"},
    {"slurm_pmix", with(slurm_step, {{"PMIX_RANK", "5"}, {"PMIX_NAMESPACE", "slurm.pmix.77.2"}}),
     "Slurm", 5, 1, 7, 3, "SLURM_PROCID"},
    {"mpirun_inside_slurm",
     with(slurm_step, {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}),
     "Open MPI",
     1,
     {},
     2,
     {},
     "OMPI_COMM_WORLD_RANK"},
    {"batch_script", {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "9"}}, "", {}, {}, {}, {}, ""},
    {"batch_step", with(slurm_step, {{"SLURM_STEP_ID", "4294967291"}}), "", {}, {}, {}, {}, ""},
    {"salloc_shell", with(slurm_step, {{"SLURM_STEP_ID", "4294967290"}}), "", {}, {}, {}, {}, ""},
    {"batch_in_words", with(slurm_step, {{"SLURM_STEP_ID", "batch"}}), "", {}, {}, {}, {}, ""},
    {"old_step_name",
     {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}, {"SLURM_STEPID", "0"}},
     "Slurm",
     1,
     {},
     2,
     {},
     "SLURM_PROCID"},
    {"bad_rank", {{"OMPI_COMM_WORLD_RANK", "x"}}, "", {}, {}, {}, {}, ""},
    {"negative_rank", {{"PMI_RANK", "-1"}}, "", {}, {}, {}, {}, ""},
    {"bad_size",
     {{"OMPI_COMM_WORLD_RANK", "1"},
      {"OMPI_COMM_WORLD_SIZE", "4x"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "0"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", ""}},
     "Open MPI",
     1,
     {},
     {},
     {},
     "OMPI_COMM_WORLD_RANK"},
};

class LauncherCases : public ::testing::TestWithParam<Case> {};

TEST_P(LauncherCases, ReadsTheTask) {
  const Case& expected = GetParam();
  const LauncherTask task = detect_launcher(lookup(expected.environment));
  EXPECT_EQ(task.launcher, expected.launcher);
  EXPECT_EQ(task.launched(), !expected.launcher.empty());
  EXPECT_EQ(task.rank, expected.rank);
  EXPECT_EQ(task.local_rank, expected.local_rank);
  EXPECT_EQ(task.size, expected.size);
  EXPECT_EQ(task.local_size, expected.local_size);
  EXPECT_EQ(task.rank_variable, expected.rank_variable);
}
INSTANTIATE_TEST_SUITE_P(All, LauncherCases, ::testing::ValuesIn(cases),
                         [](const auto& test) { return std::string(test.param.name); });

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

TEST(Singletons, AreExplained) {
  LauncherTask task{"Slurm", 0, 0, 4, {}, "SLURM_PROCID"};
  Error error = singleton_error(task, "mpich, openmpi");
  EXPECT_EQ(error.kind, ErrorKind::unavailable);
  EXPECT_EQ(full_text(error),
            "4 tasks were launched by Slurm, but each runs as a single MPI process");
  EXPECT_NE(full_hint(error).find("srun --mpi=pmi2"), std::string::npos);
  EXPECT_NE(full_hint(error).find("plug-ins: mpich, openmpi"), std::string::npos);
  EXPECT_NE(full_hint(error).find("--mpi none"), std::string::npos);
  task.launcher = "Open MPI";
  EXPECT_EQ(full_hint(singleton_error(task, "none")).find("srun"), std::string::npos);
}

TEST(PluginChoice, FollowsTheWiring) {
  EXPECT_EQ(detect_wiring(lookup({})), Wiring::none);
  EXPECT_EQ(detect_wiring(lookup(slurm_step)), Wiring::none);
  EXPECT_EQ(detect_wiring(lookup({{"PMIX_RANK", "0"}})), Wiring::pmix);
  EXPECT_EQ(detect_wiring(lookup({{"PMI_FD", "3"}})), Wiring::pmi);
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
