#include "machine/identity.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "machine/sha256.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace numatlas {
namespace {

struct ArmCore {
  unsigned long implementer;
  unsigned long part;
  const char* name;
};
// Main ID Register values as the makers' reference manuals give them.
constexpr std::array<ArmCore, 52> arm_cores{{
    {0x41, 0xd03, "Arm Cortex-A53"},
    {0x41, 0xd04, "Arm Cortex-A35"},
    {0x41, 0xd05, "Arm Cortex-A55"},
    {0x41, 0xd07, "Arm Cortex-A57"},
    {0x41, 0xd08, "Arm Cortex-A72"},
    {0x41, 0xd09, "Arm Cortex-A73"},
    {0x41, 0xd0a, "Arm Cortex-A75"},
    {0x41, 0xd0b, "Arm Cortex-A76"},
    {0x41, 0xd0c, "Arm Neoverse N1"},
    {0x41, 0xd0d, "Arm Cortex-A77"},
    {0x41, 0xd40, "Arm Neoverse V1"},
    {0x41, 0xd41, "Arm Cortex-A78"},
    {0x41, 0xd42, "Arm Cortex-A78AE"},
    {0x41, 0xd44, "Arm Cortex-X1"},
    {0x41, 0xd46, "Arm Cortex-A510"},
    {0x41, 0xd47, "Arm Cortex-A710"},
    {0x41, 0xd48, "Arm Cortex-X2"},
    {0x41, 0xd49, "Arm Neoverse N2"},
    {0x41, 0xd4a, "Arm Neoverse E1"},
    {0x41, 0xd4b, "Arm Cortex-A78C"},
    {0x41, 0xd4c, "Arm Cortex-X1C"},
    {0x41, 0xd4d, "Arm Cortex-A715"},
    {0x41, 0xd4e, "Arm Cortex-X3"},
    {0x41, 0xd4f, "Arm Neoverse V2"},
    {0x41, 0xd80, "Arm Cortex-A520"},
    {0x41, 0xd81, "Arm Cortex-A720"},
    {0x41, 0xd82, "Arm Cortex-X4"},
    {0x41, 0xd83, "Arm Neoverse V3AE"},
    {0x41, 0xd84, "Arm Neoverse V3"},
    {0x41, 0xd85, "Arm Cortex-X925"},
    {0x41, 0xd87, "Arm Cortex-A725"},
    {0x41, 0xd8e, "Arm Neoverse N3"},
    {0x42, 0x516, "Cavium ThunderX2"},
    {0x43, 0x0af, "Marvell ThunderX2"},
    {0x46, 0x001, "Fujitsu A64FX"},
    {0x48, 0xd01, "HiSilicon TaiShan v110"},
    {0x48, 0xd02, "HiSilicon TaiShan v120"},
    {0x51, 0x001, "Qualcomm Oryon"},
    {0x61, 0x022, "Apple Icestorm (M1)"},
    {0x61, 0x023, "Apple Firestorm (M1)"},
    {0x61, 0x024, "Apple Icestorm (M1 Pro)"},
    {0x61, 0x025, "Apple Firestorm (M1 Pro)"},
    {0x61, 0x028, "Apple Icestorm (M1 Max)"},
    {0x61, 0x029, "Apple Firestorm (M1 Max)"},
    {0x61, 0x032, "Apple Blizzard (M2)"},
    {0x61, 0x033, "Apple Avalanche (M2)"},
    {0x61, 0x034, "Apple Blizzard (M2 Pro)"},
    {0x61, 0x035, "Apple Avalanche (M2 Pro)"},
    {0x61, 0x038, "Apple Blizzard (M2 Max)"},
    {0x61, 0x039, "Apple Avalanche (M2 Max)"},
    {0xc0, 0xac3, "Ampere-1"},
    {0xc0, 0xac4, "Ampere-1A"},
}};

/// What a hypervisor calls its machines in DMI: found in the vendor, and in the product.
struct Vendor {
  const char *vendor, *product;
  const char* name;
};
// Words that several vendors use for a product stand beside the vendor's: "Virtual Machine" is in
// those of Microsoft and Parallels. Those without a vendor are tried last.
constexpr std::array<Vendor, 28> virtual_vendors{{
    {"QEMU", "", "KVM"},
    {"Amazon EC2", "", "KVM (Amazon EC2)"},
    {"Google", "Google Compute Engine", "KVM (Google)"},
    {"Microsoft", "Virtual Machine", "Hyper-V"},
    {"VMware", "", "VMware"},
    {"VMW", "", "VMware"},
    {"innotek", "", "VirtualBox"},
    {"Oracle", "VirtualBox", "VirtualBox"},
    {"Parallels", "", "Parallels"},
    {"Apple", "Apple Virtualization", "Apple Virtualization"},
    {"Xen", "", "Xen"},
    {"OpenStack", "", "KVM (OpenStack)"},
    {"KubeVirt", "", "KVM (KubeVirt)"},
    {"DigitalOcean", "Droplet", "KVM (DigitalOcean)"},
    {"Hetzner", "vServer", "KVM (Hetzner)"},
    {"Nutanix", "AHV", "KVM (Nutanix)"},
    {"Tencent Cloud", "CVM", "KVM (Tencent)"},
    {"KVM", "", "KVM"},
    {"Bochs", "", "Bochs"},
    {"BHYVE", "", "bhyve"},
    {"", "OpenStack", "KVM (OpenStack)"},
    {"", "KubeVirt", "KVM (KubeVirt)"},
    {"", "VMware", "VMware"},
    {"", "VirtualBox", "VirtualBox"},
    {"", "HVM domU", "Xen"},
    {"", "BHYVE", "bhyve"},
    {"", "QEMU", "KVM"},
    {"", "KVM", "KVM"},
}};

/// "c6g.metal", "m8g.metal-48xl": machines without a hypervisor, whose DMI is otherwise that of
/// Amazon's guests.
bool is_metal_of_amazon(const std::string& vendor, const std::string& product) {
  constexpr std::string_view word = ".metal";
  const auto at = product.find(word);
  if (vendor.find("Amazon EC2") == std::string::npos || at == std::string::npos) return false;
  const std::size_t end = at + word.size();
  return end == product.size() || product[end] == '-';
}

/// The hypervisor that DMI names, "" where it says that there is none, nothing where it may be
/// either.
std::optional<std::string> dmi_hypervisor(const Tree& tree) {
  const std::string vendor = tree.text("/sys/class/dmi/id/sys_vendor").value_or("");
  const std::string product = tree.text("/sys/class/dmi/id/product_name").value_or("");
  if (is_metal_of_amazon(vendor, product)) return "";
  for (const Vendor& known : virtual_vendors) {
    if (vendor.find(known.vendor) != std::string::npos &&
        product.find(known.product) != std::string::npos)
      return known.name;
  }
  // A server's chassis, in a rack or a blade, by the SMBIOS specification: no hypervisor claims to
  // be one. They say "other" or "unknown", or a desktop's.
  const auto chassis = tree.number("/sys/class/dmi/id/chassis_type");
  constexpr std::array<int, 5> servers{17, 23, 25, 28, 29};
  if (chassis && std::find(servers.begin(), servers.end(), *chassis) != servers.end()) return "";
  return std::nullopt;
}

#if defined(__x86_64__)
/// The hypervisor's own signature (CPUID leaf 0x40000000, by convention of all of them).
std::string cpuid_hypervisor() {
  constexpr std::array<std::pair<const char*, const char*>, 6> signatures{
      {{"KVMKVMKVM", "KVM"},
       {"Microsoft Hv", "Hyper-V"},
       {"VMwareVMware", "VMware"},
       {"XenVMMXenVMM", "Xen"},
       {"TCGTCGTCGTCG", "QEMU (emulated)"},
       {"bhyve bhyve ", "bhyve"}}};
  unsigned a = 0, b = 0, c = 0, d = 0;
  __cpuid(0x40000000U, a, b, c, d);
  char text[13] = {};
  std::memcpy(text, &b, 4);
  std::memcpy(text + 4, &c, 4);
  std::memcpy(text + 8, &d, 4);
  for (const auto& [sign, name] : signatures) {
    if (std::strcmp(text, sign) == 0) return name;
  }
  return "";
}
#else
std::string cpuid_hypervisor() { return ""; }
#endif

std::optional<std::string> hypervisor_of(const Tree& tree, const std::string& cpuinfo) {
  const auto dmi = dmi_hypervisor(tree);
  const bool is_xen = tree.text("/sys/hypervisor/type") == "xen";
  if (const auto flags = value_of(cpuinfo, "flags")) {  // x86: hardware says whether there is one
    if ((" " + *flags + " ").find(" hypervisor ") == std::string::npos) {
      // It may be told to hide itself (GPUs handed to guests). Nobody sells machines as "QEMU".
      return tree.text("/sys/class/dmi/id/sys_vendor") == "QEMU" ? dmi : "";
    }
    if (tree.is_live()) {
      if (const std::string name = cpuid_hypervisor(); !name.empty()) return name;
    }
    if (dmi && !dmi->empty()) return dmi;
    return is_xen ? "Xen" : "unknown";
  }
  if (dmi && !dmi->empty()) return dmi;
  if (is_xen) return "Xen";
  return dmi;
}

/// Why nothing tells whether there is a hypervisor: other processors than x86 do not say so.
std::string why_unknown(const std::string& product) {
  if (product.empty()) return "neither processor nor firmware says";
  return fmt::format("the processor does not say, and '{}' may be either", product);
}

/// "" for what no machine has alone: text that is no id, or one that firmware and images are left
/// with.
std::string hash_of_id(const Tree& tree, const char* path) {
  std::string id = tree.text(path).value_or("");
  std::erase(id, '-');
  std::ranges::transform(id, id.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::size_t digits = 32;
  const bool is_id =
      id.size() == digits && id.find_first_not_of("0123456789abcdef") == std::string::npos;
  // Boards whose maker set none.
  const bool is_left = id.empty() || id.find_first_not_of(id.front()) == std::string::npos ||
                       id == "03000200040005000006000700080009";
  // Of its own for this program, as machine-id(5) asks for; 64 bits tell all machines apart.
  return is_id && !is_left ? sha256("numatlas " + id).substr(0, 16) : "";
}

/// The cloud that the firmware names; "" where it names none, or may be anybody's: OpenStack, and
/// Hyper-V without the tag that Azure gives its machines.
std::string provider_of(const Tree& tree) {
  const auto word = [&](const char* file) {
    return tree.text(fmt::format("/sys/class/dmi/id/{}", file)).value_or("");
  };
  const std::string vendor = word("sys_vendor");
  const std::string product = word("product_name");
  constexpr std::array<std::array<const char*, 3>, 6> clouds{
      {{"Amazon EC2", "", "aws"},
       {"Google", "Google Compute Engine", "gcp"},
       {"Alibaba Cloud", "Alibaba Cloud ECS", "alicloud"},
       {"Hetzner", "vServer", "hcloud"},
       {"UpCloud", "", "upcloud"},
       {"Vultr", "", "vultr"}}};
  for (const auto& [its_vendor, its_product, provider] : clouds)
    if (vendor == its_vendor && product.find(its_product) != std::string::npos) return provider;
  if (vendor == "Microsoft Corporation" &&
      word("chassis_asset_tag") == "7783-7084-3265-9085-8269-3286-77")
    return "azure";
  // Amazon's machines of before 2017.
  if (vendor == "Xen" && word("bios_version").find("amazon") != std::string::npos) return "aws";
  return "";
}

void read_machine_identity(const Tree& tree, Identity& identity) {
  identity.installation = hash_of_id(tree, "/etc/machine-id");
  identity.firmware = hash_of_id(tree, "/sys/class/dmi/id/product_uuid");
  identity.boot = hash_of_id(tree, "/proc/sys/kernel/random/boot_id");
  identity.product = dmi_words(tree, {"sys_vendor", "product_name"});
  identity.provider = provider_of(tree);
}

/// Of a recorded tree; hwloc asks the kernel of a live machine.
void read_system_names(const Tree& tree, const std::string& cpuinfo, Machine& machine) {
  if (tree.is_live()) return;
  const auto kernel = [&](const char* file) {
    return tree.text(fmt::format("/proc/sys/kernel/{}", file));
  };
  if (const auto host = kernel("hostname")) machine.host = *host;
  const auto type = kernel("ostype");
  const auto release = kernel("osrelease");
  if (type && release) machine.os = *type + " " + *release;
  if (value_of(cpuinfo, "CPU implementer")) {
    machine.arch = "aarch64";
  } else if (value_of(cpuinfo, "vendor_id")) {
    machine.arch = "x86_64";
  } else if (value_of(cpuinfo, "cpu").value_or("").starts_with("POWER")) {
    machine.arch = "ppc64le";
  }
}

/// By the CPUs' blocks of /proc/cpuinfo.
std::map<CpuId, std::string> arm_cores_of(const std::string& cpuinfo) {
  std::map<CpuId, std::string> cores;
  CpuId at;
  std::string implementer;
  for (const std::string& line : split_lines(cpuinfo)) {
    if (const auto id = value_of(line, "processor")) at = CpuId{number_after(*id, "").value_or(-1)};
    if (const auto maker = value_of(line, "CPU implementer")) implementer = *maker;
    if (const auto part = value_of(line, "CPU part")) cores[at] = arm_core_name(implementer, *part);
  }
  return cores;
}

/// Where a machine has several kinds of cores, of each its own name; the machine is called by all.
void name_arm_kinds(const Tree& tree, Machine& machine) {
  if (machine.cpu_kinds.empty()) return;
  constexpr std::size_t most = 16U << 20;  // 4096 CPUs of 1 to 4 KiB each
  const auto cores = arm_cores_of(tree.text("/proc/cpuinfo", most).value_or(""));
  std::vector<std::string> models;
  for (CpuKind& kind : machine.cpu_kinds) {
    std::set<std::string> names;
    for (const CpuId cpu : kind.cpus)
      if (const auto core = cores.find(cpu); core != cores.end()) names.insert(core->second);
    kind.model = fmt::format("{}", fmt::join(names, " + "));
    if (!kind.model.empty() && !std::ranges::count(models, kind.model))
      models.push_back(kind.model);
  }
  if (models.size() > 1) machine.cpu_model = fmt::format("{}", fmt::join(models, " + "));
}

}  // namespace

std::string model_name(const std::string& cpuinfo) {
  // x86, LoongArch, MIPS, RISC-V, in their kernels' words.
  for (const char* key : {"model name", "Model Name", "cpu model", "uarch"}) {
    if (const auto name = value_of(cpuinfo, key)) return *name;
  }
  // POWER, SPARC: "POWER9 (architected), altivec supported".
  if (const auto name = value_of(cpuinfo, "cpu")) return name->substr(0, name->find(','));
  return "";
}

std::string arm_core_name(const std::string& implementer, const std::string& part) {
  const unsigned long maker = std::strtoul(implementer.c_str(), nullptr, 0);
  const unsigned long number = std::strtoul(part.c_str(), nullptr, 0);
  for (const ArmCore& core : arm_cores) {
    if (core.implementer == maker && core.part == number) return core.name;
  }
  return fmt::format("Arm implementer {:#04x} part {:#05x}", maker, number);
}

std::string dmi_words(const Tree& tree, const std::vector<const char*>& files) {
  std::string words;
  for (const char* file : files) {
    const std::string word = tree.text(fmt::format("/sys/class/dmi/id/{}", file)).value_or("");
    if (!word.empty()) words += (words.empty() ? "" : " ") + word;
  }
  return words;
}

void read_identity(const Tree& tree, Machine& machine) {
  // The first processor's block is enough; the whole file takes long on a thousand CPUs.
  const std::string cpuinfo = tree.text("/proc/cpuinfo", 8192).value_or("");
  read_system_names(tree, cpuinfo, machine);
  read_machine_identity(tree, machine.identity);
  const std::string model = model_name(cpuinfo);
  const auto part = value_of(cpuinfo, "CPU part");
  if (part) {
    machine.cpu_model = arm_core_name(value_of(cpuinfo, "CPU implementer").value_or("0"), *part);
    // NVIDIA's own superchips carry Arm's core; only the firmware's product name tells them.
    const std::string product = tree.text("/sys/class/dmi/id/product_name").value_or("");
    if (product.find("Grace") != std::string::npos || product.find("GH200") != std::string::npos) {
      machine.cpu_model = "NVIDIA Grace (" + machine.cpu_model + ")";
    }
    name_arm_kinds(tree, machine);
  } else if (!model.empty()) {
    machine.cpu_model = model;
  }
  machine.hypervisor = hypervisor_of(tree, cpuinfo);
  if (!machine.hypervisor) machine.unread["hypervisor"] = why_unknown(machine.identity.product);
}

}  // namespace numatlas
