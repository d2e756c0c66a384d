#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_document.h"
#include "base/read_file.h"
#include "machine/memory_slots.h"
#include "machine/snapshot_reader.h"

namespace numatlas {
namespace {

using nlohmann::json;

constexpr int most_width = 1 << 16;  // the firmware's field has 16 bits

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json slot_json(const MemorySlot& slot) {
  return {{"name", slot.name},
          {"socket", slot.socket},
          {"channel", slot.channel},
          {"size", slot.size ? json(slot.size->value) : json(nullptr)},
          {"type", slot.type},
          {"rated_speed", or_null(slot.rated_speed)},
          {"configured_speed", or_null(slot.configured_speed)},
          {"width", or_null(slot.width)}};
}

MemorySlot read_slot(const json& value, const std::string& path, std::optional<Error>& failure) {
  MemorySlot slot;
  FieldReader fields(value, path, failure);
  fields.text("name", slot.name);
  fields.text("socket", slot.socket);
  fields.text("channel", slot.channel);
  fields.bytes("size", slot.size);
  fields.text("type", slot.type);
  fields.real("rated_speed", slot.rated_speed);
  fields.real("configured_speed", slot.configured_speed);
  fields.whole("width", slot.width, 1, most_width);
  return slot;
}

}  // namespace

json to_json(const MemorySlots& slots) {
  json all = json::array();
  for (const MemorySlot& slot : slots.slots) all.push_back(slot_json(slot));
  return {{"source", slots.source}, {"problem", slots.problem}, {"slots", std::move(all)}};
}

Expected<MemorySlots> recorded_memory_slots(const std::string& spec) {
  MemorySlots slots;
  std::error_code none;
  // A pipe was read to its end for the machine; a description is no file.
  if (!std::filesystem::is_regular_file(spec, none)) return slots;
  const auto content = read_file(spec, spec, "");
  if (!content) return fail(about("--machine", content.error()));
  // hwloc's XML has no slots.
  if (content->find_first_not_of(" \t\r\n") == content->find('<')) return slots;
  const auto document = parse_json(*content);
  if (!document) return fail(about("--machine", document.error()));
  const auto found = (*document)->find("memory_slots");
  if (!(*document)->is_object() || found == (*document)->end()) return slots;
  std::optional<Error> failure;
  FieldReader fields(*found, "memory_slots", failure);
  fields.text("source", slots.source);
  fields.text("problem", slots.problem);
  fields.array("slots", [&](const json& item, const std::string& path) {
    slots.slots.push_back(read_slot(item, path, failure));
  });
  if (failure) return fail(about("--machine", *failure));
  return slots;
}

}  // namespace numatlas
