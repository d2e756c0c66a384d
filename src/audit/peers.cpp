#include "audit/peers.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_document.h"
#include "base/read_file.h"
#include "base/text.h"
#include "record/report_json.h"

namespace numatlas {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* peers_option = "--peers";
constexpr const char* peers_hint =
    "name a folder with results of other hosts: JSON of numatlas audit or survey";

/// nullopt for what is no result.
std::optional<std::vector<RunReport>> reports_in(const std::string& path) {
  const auto content = read_file(path, path, "");
  if (!content) return std::nullopt;
  const auto document = parse_json(*content, {"samples"});
  if (!document) return std::nullopt;
  std::vector<RunReport> reports;
  const json& value = **document;
  const auto add = [&](const json& one) {
    auto report = report_from_json(one);
    if (report) reports.push_back(*std::move(report));
  };
  const auto results = value.is_object() ? value.find("results") : value.end();
  if (results != value.end() && results->is_array())
    for (const json& one : *results) add(one);
  else
    add(value);
  if (reports.empty()) return std::nullopt;
  return reports;
}

std::vector<std::string> files_in(const fs::path& folder, std::error_code& code) {
  std::vector<std::string> files;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) {
      const fs::path survey = at->path() / "survey.json";
      if (fs::exists(survey, ignored)) files.push_back(survey.string());
    } else if (at->path().extension() == ".json") {
      files.push_back(at->path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

PeerHost peer_host(const std::vector<RunReport>& reports) {
  PeerHost host;
  for (const RunReport& report : reports) {
    if (report.hosts.size() != 1 || report.machines.empty()) continue;
    host.host = report.hosts.front();
    host.cpu_model = report.machines.front().cpu_model;
    host.started = std::max(host.started, report.started);
    for (const Fact& fact : report.facts) {
      const bool comparable = fact.unit == "s" || fact.unit == "B/s";
      if (comparable && fact.estimate.value > 0)
        host.figures.emplace(FigureKey{fact.key, fact.where}, fact.estimate.value);
    }
  }
  return host;
}

Expected<PeerFigures> read_peers(const std::string& folder) {
  std::error_code code;
  const auto files = files_in(folder, code);
  if (code)
    return fail_about(file_error_kind(code.value()), peers_option,
                      fmt::format("{}: {}", printable(folder), code.message()), peers_hint);
  PeerFigures peers;
  peers.folder = printable(folder);
  std::map<std::string, PeerHost> newest;
  for (const std::string& file : files) {
    const auto reports = reports_in(file);
    PeerHost host = reports ? peer_host(*reports) : PeerHost{};
    if (host.host.empty()) {
      ++peers.not_read;
      continue;
    }
    PeerHost& kept = newest[host.host];
    if (kept.started <= host.started) kept = std::move(host);
  }
  for (auto& [name, host] : newest) peers.hosts.push_back(std::move(host));
  if (peers.hosts.empty())
    return fail_usage(peers_option, fmt::format("{} has no result of one host", peers.folder),
                      peers_hint);
  return peers;
}

}  // namespace numatlas
