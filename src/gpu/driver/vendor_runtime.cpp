#include "gpu/driver/vendor_runtime.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace numatlas {

std::string sysfs_pci_address(std::string address) {
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::count(address.begin(), address.end(), ':') == 1) address.insert(0, "0000:");
  // Four digits of the domain, more only where they count.
  constexpr std::size_t digits = 4;
  std::size_t domain = address.find(':');
  while (domain != std::string::npos && domain > digits && address.front() == '0') {
    address.erase(0, 1);
    --domain;
  }
  return address;
}

RuntimeState unusable(const std::string& name, std::string message, std::string hint) {
  return {name, nullptr, Error{ErrorKind::unavailable, std::move(message), std::move(hint)}};
}

bool is_absent(const Library& library, const std::string& name) {
  // A library that is there and lacks another one names that one.
  return library.problem().starts_with(name + ": cannot open shared object file: No such file");
}

}  // namespace numatlas
