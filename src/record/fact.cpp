#include "record/fact.h"

namespace numatlas {

std::string where_of(const Fact& fact, const std::string& name) {
  for (const auto& [label, text] : fact.where) {
    if (label == name) return text;
  }
  return "";
}

}  // namespace numatlas
