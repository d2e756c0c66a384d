// Machines from the texts that people attach to reports. Each says a part; the rest is unknown.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "machine/machine.h"

namespace numatlas {

/// Of these texts: Linux has up to 1024 nodes, numbered from 0.
inline constexpr int most_text_nodes = 4096;

/// A text of `lstopo` (console form), `numactl -H` or `lscpu`; nullopt where it is none of them.
/// Error (usage): it is one, but lacks what a machine needs.
Expected<std::optional<Machine>> read_text_form(const std::string& text);

/// What `lscpu -J` writes ({"lscpu": [...]}), flat or nested.
Expected<Machine> read_lscpu_json(const nlohmann::json& document);

// Each of the forms; the text is one of it by its first lines.
Expected<Machine> read_lstopo_text(const std::string& text);
Expected<Machine> read_numactl_text(const std::string& text);
Expected<Machine> read_lscpu_text(const std::string& text);

/// Puts a machine of such a text in order: all of it may be used, and what the text of `form` has
/// not is unknown. Error (usage): it has no CPU or no node.
Expected<Machine> completed(Machine machine, const std::string& form);

}  // namespace numatlas
