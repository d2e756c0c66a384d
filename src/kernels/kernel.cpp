#include "kernels/kernel.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "kernels/kind.h"

namespace numatlas {
namespace {

std::string_view name_in(const KernelParameters& parameters) {
  return std::visit([](const auto& its) -> std::string_view { return its.name(); }, parameters);
}

/// Of each type in the list.
template <class... P>
std::vector<KernelKind> kinds_of_all(const std::variant<P...>*) {
  std::vector<KernelKind> all;
  for (auto* const kinds : {&P::kinds...}) std::ranges::move(kinds(), std::back_inserter(all));
  return all;
}

const std::vector<KernelKind>& all_kinds() {
  static const auto all = kinds_of_all(static_cast<const KernelParameters*>(nullptr));
  return all;
}

const KernelKind* find_kind(std::string_view name) {
  const auto& all = all_kinds();
  const auto found =
      std::ranges::find_if(all, [&](const auto& kind) { return name_in(kind.usual) == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

const KernelKind& kind_of(const KernelSpec& spec) {
  const std::string_view name = name_in(spec.parameters);
  return *std::ranges::find_if(all_kinds(), [&](const auto& kind) {
    return kind.usual.index() == spec.parameters.index() && name_in(kind.usual) == name;
  });
}

KernelSpec kernel_named(std::string_view name) {
  const KernelKind* const kind = find_kind(name);
  if (kind == nullptr) throw std::logic_error(fmt::format("no kernel '{}'", name));
  return {kind->usual};
}

std::string name_of(const KernelSpec& spec) { return std::string(name_in(spec.parameters)); }

std::string mix_text(const KernelSpec& spec) {
  const auto* const mix = spec.find<MixParameters>();
  return mix != nullptr ? fmt::format("{}:{}", mix->reads, mix->writes) : "";
}

std::string full_name(const KernelSpec& spec) {
  const std::string mix = mix_text(spec);
  return mix.empty() ? name_of(spec) : name_of(spec) + " " + mix;
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const KernelKind& kind : all_kinds()) {
    if (kind.traits.in_files && !kind.traits.on_gpu) names.emplace_back(name_in(kind.usual));
  }
  return names;
}

const KernelTraits& traits_of(std::string_view name) {
  static constexpr KernelTraits any;
  const KernelKind* const kind = find_kind(name);
  return kind != nullptr ? kind->traits : any;
}

const KernelTraits& traits_of(const KernelSpec& spec) { return kind_of(spec).traits; }

Expected<void> check_size(const KernelSpec& spec, Bytes size) {
  const KernelKind& kind = kind_of(spec);
  return kind.check_size != nullptr ? kind.check_size(spec, size) : Expected<void>{};
}

Traffic traffic_per_step(const KernelSpec& spec) {
  const KernelKind& kind = kind_of(spec);
  return kind.traffic != nullptr ? kind.traffic(spec) : Traffic{};
}

Bytes stride_of(const KernelSpec& spec) {
  const KernelKind& kind = kind_of(spec);
  return kind.stride != nullptr ? kind.stride(spec) : Bytes{64};
}

StepTime step_time(const KernelSpec& spec) {
  const KernelKind& kind = kind_of(spec);
  return {std::string(kind.traits.time), kind.part != nullptr ? kind.part(spec) : 1};
}

SimulatedStep simulated_step(const KernelSpec& spec, std::size_t flows) {
  const KernelKind& kind = kind_of(spec);
  return kind.simulated != nullptr ? kind.simulated(spec, flows) : SimulatedStep{};
}

std::unique_ptr<Kernel> make_kernel(const KernelSpec& spec) { return kind_of(spec).make(spec); }

}  // namespace numatlas
