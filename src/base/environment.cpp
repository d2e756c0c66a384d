#include "base/environment.h"

#include <sys/auxv.h>

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <system_error>

#include "base/text.h"

namespace numatlas {

const char* environment_variable(const char* name) { return secure_getenv(name); }

std::optional<std::size_t> openmp_stack() {
  const char* value = environment_variable("OMP_STACKSIZE");
  if (value == nullptr) value = environment_variable("GOMP_STACKSIZE");
  if (value == nullptr) return std::nullopt;
  const std::string_view text = trim(value);
  std::size_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{}) return std::nullopt;
  std::string_view unit = trim(text.substr(static_cast<std::size_t>(end - text.data())));
  if (unit.empty()) unit = "K";
  const auto power = std::string_view("BKMG").find(
      static_cast<char>(std::toupper(static_cast<unsigned char>(unit.front()))));
  if (unit.size() > 1 || power == std::string_view::npos) return std::nullopt;
  const std::size_t factor = std::size_t{1} << (10 * power);
  if (number > std::numeric_limits<std::size_t>::max() / factor) return std::nullopt;
  return number * factor;
}

void forget_untrusted_environment() {
  if (getauxval(AT_SECURE) == 0) return;
  clearenv();
  setenv("PATH", "/usr/bin:/bin", 1);
}

}  // namespace numatlas
