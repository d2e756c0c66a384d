// Reading JSON fields with errors that name the field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/ids.h"
#include "base/units.h"
#include "machine/memory_slots.h"

namespace numatlas {

/// Version of the snapshot format that this program writes and reads.
inline constexpr int snapshot_schema_version = 1;

/// Reads the fields of one JSON object. The first error is kept and every later read does nothing,
/// so that a reader is a plain list of fields with one check at its end. Messages name the field
/// by its path ("nodes[2].memory_total").
class FieldReader {
 public:
  /// `error` is shared by all readers of a document; null or no object at all is an error.
  FieldReader(const nlohmann::json& object, std::string path, std::optional<Error>& error);

  void text(const char* name, std::string& out);
  /// Whole number from `least` to `most`.
  void whole(const char* name, int& out, int least, int most);
  /// As whole, but null is -1.
  void whole_or_none(const char* name, int& out, int least, int most);
  void whole(const char* name, std::optional<int>& out, int least, int most);
  void count(const char* name, std::uint64_t& out);
  void bytes(const char* name, Bytes& out);
  void bytes(const char* name, std::optional<Bytes>& out);
  void real(const char* name, std::optional<double>& out);
  void node(const char* name, std::optional<NodeId>& out);
  template <class I>
  void list(const char* name, IdSet<I>& out) {
    std::string value;
    text(name, value);
    if (error_) return;
    auto set = parse_list<I>(value);
    if (!set) return reject(name, full_text(set.error()));
    out = *set;
  }
  /// The field if it is there and not null; null and an error otherwise, unless `optional`.
  const nlohmann::json* field(const char* name, bool optional = false);
  /// Calls read(element, path) for every element of an array.
  template <class Read>
  void array(const char* name, Read read) {
    const nlohmann::json* found = field(name);
    if (found == nullptr) return;
    if (!found->is_array()) return reject(name, "must be an array");
    for (std::size_t i = 0; i < found->size() && !error_; ++i) {
      read((*found)[i], path_of(name) + "[" + std::to_string(i) + "]");
    }
  }
  void reject(const std::string& name, const std::string& why);
  std::string path_of(const std::string& name) const;
  bool failed() const { return error_.has_value(); }

 private:
  const nlohmann::json& object_;
  std::string path_;
  std::optional<Error>& error_;
};

/// The inverse of to_json: the peak follows from the slots.
MemorySlots read_slots(const nlohmann::json& value, const std::string& path,
                       std::optional<Error>& error);

}  // namespace numatlas
