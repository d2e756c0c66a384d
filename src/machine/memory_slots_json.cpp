#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

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
  json value{{"source", slots.source}, {"problem", slots.problem}, {"slots", std::move(all)}};
  std::string why;
  if (const auto peak = peak_of(slots, why)) value["peak_bandwidth"] = *peak;
  return value;
}

MemorySlots read_slots(const json& value, const std::string& path, std::optional<Error>& failure) {
  MemorySlots slots;
  FieldReader fields(value, path, failure);
  fields.text("source", slots.source);
  fields.text("problem", slots.problem);
  fields.array("slots", [&](const json& item, const std::string& where) {
    slots.slots.push_back(read_slot(item, where, failure));
  });
  return slots;
}

}  // namespace numatlas
