// What the keys of a GPU's flow demand of each other.
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "kernels/traits.h"
#include "memory/source.h"
#include "scenario/scenario_file.h"

namespace numatlas {
namespace {

tl::unexpected<Error> wrong_at(const FlowEntry& flow, const std::string& key,
                               const std::string& message, const std::string& hint = {}) {
  return fail(error_at(flow.places, key, {ErrorKind::usage, message, hint}));
}

/// Memory that a CPU's kernel cannot reach.
Expected<void> check_memory_of_cpu(const FlowEntry& flow) {
  constexpr const char* message = "only GPUs can access GPU memory";
  constexpr const char* hint = "kernel = \"device copy\" copies to it and from it";
  if (gpu_of(flow.memory.single) >= 0) return wrong_at(flow, "memory", message, hint);
  if (gpu_of(flow.source_memory.single) >= 0) return wrong_at(flow, "source.memory", message, hint);
  return {};
}

Expected<void> check_pages_of_copy(const FlowEntry& flow, const GpusOfCopy& gpus) {
  constexpr const char* message = "memory of a GPU has no choice of pages";
  if (flow.has("pages") && gpus.to >= 0) {
    return wrong_at(flow, "pages", message,
                    gpus.from < 0 ? "set those of the host side in source" : "leave it out");
  }
  if (flow.has("source.pages") && gpus.from >= 0) {
    return wrong_at(flow, "source.pages", message,
                    gpus.to < 0 ? "set those of the host side beside memory" : "leave it out");
  }
  return {};
}

Expected<void> check_size_of_copy(const FlowEntry& flow) {
  if (!flow.has("size")) return {};
  constexpr std::uint64_t word = 16;
  const Bytes size = flow.flow.region.bytes;
  if (size.value == 0 || size.value % word != 0) {
    return wrong_at(
        flow, "size",
        fmt::format("a GPU copies whole words of {} bytes, not {}", word, to_text(size)));
  }
  if (flow.has("source.size") && flow.flow.source->bytes != size) {
    return wrong_at(flow, "source.size",
                    fmt::format("a copy has the same size on both sides, here {}", to_text(size)),
                    "leave it out");
  }
  // As in all counts of bytes: a step is still a number.
  const auto& work = flow.flow.kernel.as<DeviceCopyParameters>();
  if (flow.has("copies") && size.value > (std::uint64_t{1} << 62) / work.copies)
    return wrong_at(flow, "copies", "this many copies of this size exceed the bytes per step");
  return {};
}

Expected<void> check_device_copy(const FlowEntry& flow) {
  const GpusOfCopy gpus = gpus_of_copy(flow);
  const bool between = gpus.from >= 0 && gpus.to >= 0;
  if (gpus.worker() < 0) {
    const char* const key = flow.has("memory")   ? "memory"
                            : flow.has("source") ? "source"
                                                 : "kernel";
    return wrong_at(flow, key, "a device copy is from a GPU or to one, and this has none",
                    "memory = \"gpu:0\" is copied to, source = { memory = \"gpu:0\" } from; the "
                    "kernel \"copy\" is a CPU's");
  }
  if (gpus.from == gpus.to)
    return wrong_at(flow, "memory", "a copy within a GPU crosses no link",
                    "name another GPU, or memory of the host");
  const auto& work = flow.flow.kernel.as<DeviceCopyParameters>();
  if (flow.has("gpu") && work.gpu != gpus.worker()) {
    return wrong_at(flow, "gpu",
                    fmt::format("the copy is the work of GPU {}, which it is {}", gpus.worker(),
                                gpus.from >= 0 ? "from" : "to"),
                    "leave it out");
  }
  if (between && flow.has("pin")) {
    return wrong_at(flow, "pin",
                    fmt::format("{} is of memory of the host, and this copy is between GPUs",
                                name_of(work.pinning)),
                    "leave it out");
  }
  TRY(check_pages_of_copy(flow, gpus));
  return check_size_of_copy(flow);
}

Expected<void> check_device_chase(const FlowEntry& flow) {
  const bool of_gpu = gpu_of(flow.memory.single) >= 0;
  if (!of_gpu && flow.has("gpu_loads"))
    return wrong_at(flow, "gpu_loads", "is of memory of a GPU, and this is the host's",
                    "leave it out");
  if (!flow.has("size")) return {};
  ChainSpec chain;
  if (of_gpu) chain.stride = DeviceChaseParameters{}.stride;
  const auto layout = ChainLayout::make(flow.flow.region.bytes, chain);
  return layout ? Expected<void>{} : fail(error_at(flow.places, "size", layout.error()));
}

/// A chase or a stream of a GPU.
Expected<void> check_in_place(const FlowEntry& flow) {
  if (gpu_of_flow(flow) < 0) return wrong_at(flow, "", "key 'gpu' is missing", "gpu = 0");
  if (flow.has("pages") && gpu_of(flow.memory.single) >= 0)
    return wrong_at(flow, "pages", "memory of a GPU has no choice of pages", "leave it out");
  if (traits_of(flow.kernel()).chases_on_gpu()) return check_device_chase(flow);
  if (!flow.has("size")) return {};
  const auto holds = check_size(flow.flow.kernel, flow.flow.region.bytes);
  return holds ? Expected<void>{} : fail(error_at(flow.places, "size", holds.error()));
}

}  // namespace

GpusOfCopy gpus_of_copy(const FlowEntry& flow) {
  return {gpu_of(flow.source_memory.single), gpu_of(flow.memory.single)};
}

int gpu_of_flow(const FlowEntry& flow) {
  const KernelTraits& is = traits_of(flow.kernel());
  if (is.copies_on_gpu()) return gpus_of_copy(flow).worker();
  const auto* const work = flow.flow.kernel.find<DeviceWork>();
  if (work == nullptr) return -1;
  return flow.has("gpu") ? work->gpu : gpu_of(flow.memory.single);
}

Error error_at_gpu(const FlowEntry& flow, int gpu, const Error& error) {
  const KernelTraits& is = traits_of(flow.kernel());
  if (is.on_gpu && !is.copies_on_gpu())
    return error_at(flow.places, flow.has("gpu") && gpu_of_flow(flow) == gpu ? "gpu" : "memory",
                    error);
  const bool is_source = gpu_of(flow.source_memory.single) == gpu;
  return error_at(flow.places, is_source ? "source.memory" : "memory", error);
}

Expected<void> check_device_flow(const FlowEntry& flow) {
  const KernelTraits& is = traits_of(flow.kernel());
  if (is.copies_on_gpu()) return check_device_copy(flow);
  return is.on_gpu ? check_in_place(flow) : check_memory_of_cpu(flow);
}

}  // namespace numatlas
