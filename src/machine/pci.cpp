#include "machine/pci.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/tree.h"
#include "machine/pci_link.h"

namespace numatlas {
namespace {

std::string pci_folder(const std::string& address) { return "/sys/bus/pci/devices/" + address; }

/// "16.0 GT/s PCIe" or "8 GT/s"; nullopt for "Unknown", and for what is no speed.
std::optional<double> read_speed(const Tree& tree, const std::string& path) {
  const auto text = tree.text(path);
  if (!text) return std::nullopt;
  double value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, code] = std::from_chars(text->data(), end, value, std::chars_format::fixed);
  constexpr double most = 1000;  // four generations more than any that there is
  if (code != std::errc{} || !(value > 0 && value <= most)) return std::nullopt;
  if (!std::string_view(stop, static_cast<std::size_t>(end - stop)).starts_with(" GT/s")) {
    return std::nullopt;
  }
  return value * 1e9;
}

/// nullopt for 0 (no link, virtual functions) and 255 (the kernel's PCIE_LNK_WIDTH_UNKNOWN).
std::optional<int> read_width(const Tree& tree, const std::string& path) {
  constexpr int widest = 32;  // the specification's
  const auto value = tree.number(path);
  if (!value || *value < 1 || *value > widest) return std::nullopt;
  return static_cast<int>(*value);
}

PciLink own_link(const Tree& tree, const std::string& address) {
  const std::string folder = pci_folder(address);
  return {read_speed(tree, folder + "/current_link_speed"),
          read_speed(tree, folder + "/max_link_speed"),
          read_width(tree, folder + "/current_link_width"),
          read_width(tree, folder + "/max_link_width")};
}

/// A device and the bridges above it. sysfs nests a device's folder in its bridge's, below one of
/// the root bus (".../pci0000:3a/0000:3a:01.0/0000:3b:00.0").
std::vector<std::string> bridges_from(const Tree& tree, const std::string& address) {
  // Domains have four digits, or more where firmware has none for them.
  static const std::regex form("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
  std::vector<std::string> way;
  std::string rest = tree.resolved(pci_folder(address)).value_or("");
  while (!rest.empty()) {
    const auto slash = rest.rfind('/');
    const std::string name = rest.substr(slash == std::string::npos ? 0 : slash + 1);
    if (!std::regex_match(name, form)) break;
    way.push_back(name);
    rest.resize(slash == std::string::npos ? 0 : slash);
  }
  return way;
}

}  // namespace

std::string gpu_vendor(std::int64_t pci_class, std::int64_t vendor) {
  const std::int64_t kind = pci_class >> 8;  // the lowest byte is the programming interface
  if ((kind >> 8) != 0x03 && kind != 0x1200) return "";
  if (vendor == 0x10de) return "NVIDIA";
  if (vendor == 0x1002) return "AMD";
  return vendor == 0x8086 && kind != 0x1200 ? "Intel" : "";
}

std::vector<PciStep> read_path(const Tree& tree, const std::string& pci_address) {
  std::vector<PciStep> path;
  for (const std::string& address : bridges_from(tree, pci_address))
    path.push_back({address, own_link(tree, address)});
  const bool silent = std::all_of(path.begin(), path.end(),
                                  [](const PciStep& step) { return step.link == PciLink{}; });
  return silent ? std::vector<PciStep>{} : path;
}

std::optional<PciLink> read_link(const Tree& tree, const std::string& pci_address) {
  const PciLink link = own_link(tree, pci_address);
  return link == PciLink{} ? std::nullopt : std::optional(link);
}

}  // namespace numatlas
