// What the keys of a GPU's flow demand of each other.
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "gpu/buffers.h"
#include "kernels/traits.h"
#include "memory/source.h"
#include "scenario/scenario_file.h"

namespace numatlas {
namespace {

tl::unexpected<Error> wrong_at(const Places& places, const std::string& key,
                               const std::string& message, const std::string& hint = {}) {
  return fail(error_at(places, key, {ErrorKind::usage, message, hint}));
}

/// Memory that a CPU's kernel cannot reach.
Expected<void> check_memory_of_cpu(const FileFlow& flow) {
  constexpr const char* message = "only GPUs can access GPU memory";
  constexpr const char* hint = "kernel = \"device copy\" copies to it and from it";
  if (gpu_in(flow.memory) >= 0) return wrong_at(flow.places, "memory", message, hint);
  if (flow.source && gpu_in(flow.source->memory) >= 0)
    return wrong_at(flow.source->places, "memory", message, hint);
  return {};
}

Expected<void> check_pages_of_copy(const FileFlow& flow, const GpusOfCopy& gpus) {
  constexpr const char* message = "memory of a GPU has no choice of pages";
  if (flow.pages && gpus.to >= 0) {
    return wrong_at(flow.places, "pages", message,
                    gpus.from < 0 ? "set those of the host side in source" : "leave it out");
  }
  if (flow.source && flow.source->pages && gpus.from >= 0) {
    return wrong_at(flow.source->places, "pages", message,
                    gpus.to < 0 ? "set those of the host side beside memory" : "leave it out");
  }
  return {};
}

Expected<void> check_size_of_copy(const FileFlow& flow) {
  if (!flow.size) return {};
  constexpr std::uint64_t word = 16;
  if (flow.size->value == 0 || flow.size->value % word != 0) {
    return wrong_at(
        flow.places, "size",
        fmt::format("a GPU copies whole words of {} bytes, not {}", word, to_text(*flow.size)));
  }
  if (flow.source && flow.source->size && *flow.source->size != *flow.size) {
    return wrong_at(
        flow.source->places, "size",
        fmt::format("a copy has the same size on both sides, here {}", to_text(*flow.size)),
        "leave it out");
  }
  // As in all counts of bytes: a step is still a number.
  if (flow.copies && flow.size->value > (std::uint64_t{1} << 62) / *flow.copies)
    return wrong_at(flow.places, "copies",
                    "this many copies of this size exceed the bytes per step");
  return {};
}

Expected<void> check_device_copy(const FileFlow& flow) {
  const GpusOfCopy gpus = gpus_of_copy(flow);
  const bool between = gpus.from >= 0 && gpus.to >= 0;
  if (gpus.worker() < 0) {
    const char* const key = flow.memory ? "memory" : flow.source ? "source" : "kernel";
    return wrong_at(flow.places, key, "a device copy is from a GPU or to one, and this has none",
                    "memory = \"gpu:0\" is copied to, source = { memory = \"gpu:0\" } from; the "
                    "kernel \"copy\" is a CPU's");
  }
  if (gpus.from == gpus.to)
    return wrong_at(flow.places, "memory", "a copy within a GPU crosses no link",
                    "name another GPU, or memory of the host");
  if (flow.gpu && *flow.gpu != gpus.worker()) {
    return wrong_at(flow.places, "gpu",
                    fmt::format("the copy is the work of GPU {}, which it is {}", gpus.worker(),
                                gpus.from >= 0 ? "from" : "to"),
                    "leave it out");
  }
  if (between && flow.pin) {
    return wrong_at(flow.places, "pin",
                    fmt::format("{} is of memory of the host, and this copy is between GPUs",
                                name_of(*flow.pin)),
                    "leave it out");
  }
  TRY(check_pages_of_copy(flow, gpus));
  return check_size_of_copy(flow);
}

Expected<void> check_device_chase(const FileFlow& flow) {
  if (!flow.gpu) return wrong_at(flow.places, "", "key 'gpu' is missing", "gpu = 0");
  if (gpu_in(flow.memory) >= 0) {
    return wrong_at(flow.places, "memory", "a GPU's chase goes through memory of the host",
                    "such as memory = \"bind:0\"");
  }
  if (!flow.size) return {};
  const auto layout = ChainLayout::make(*flow.size, ChainSpec{});
  return layout ? Expected<void>{} : fail(error_at(flow.places, "size", layout.error()));
}

}  // namespace

int gpu_in(const std::optional<std::string>& memory) {
  const auto spec = parse_memory_spec(memory.value_or("inherit"));
  return spec && spec->form == MemorySpec::Form::single ? gpu_of(spec->single) : -1;
}

GpusOfCopy gpus_of_copy(const FileFlow& flow) {
  return {flow.source ? gpu_in(flow.source->memory) : -1, gpu_in(flow.memory)};
}

int gpu_of_flow(const FileFlow& flow) {
  const KernelTraits& is = traits_of(flow.kernel);
  if (is.copies_on_gpu()) return gpus_of_copy(flow).worker();
  return is.chases_on_gpu() ? flow.gpu.value_or(-1) : -1;
}

Error error_at_gpu(const FileFlow& flow, int gpu, const Error& error) {
  if (traits_of(flow.kernel).chases_on_gpu()) return error_at(flow.places, "gpu", error);
  const bool is_source = flow.source && gpu_in(flow.source->memory) == gpu;
  return error_at(is_source ? flow.source->places : flow.places, "memory", error);
}

Expected<void> check_device_flow(const FileFlow& flow) {
  const KernelTraits& is = traits_of(flow.kernel);
  if (is.copies_on_gpu()) return check_device_copy(flow);
  return is.chases_on_gpu() ? check_device_chase(flow) : check_memory_of_cpu(flow);
}

}  // namespace numatlas
