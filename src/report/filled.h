// Texts with "{name}" in them.
#pragma once

#include <functional>
#include <string>

namespace numatlas {

/// `text` with the value of each "{name}". What stands in [] is left out where one of its names has
/// the value "". "{}" stays as it is.
std::string filled(const std::string& text,
                   const std::function<std::string(const std::string&)>& value_of);

}  // namespace numatlas
