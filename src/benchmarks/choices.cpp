#include "benchmarks/choices.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "benchmarks/options.h"

namespace numatlas {
namespace {

constexpr const char* no_mix = "none";

}  // namespace

const std::vector<std::string> stream_kernels{"read", "write", "copy",  "scale",
                                              "add",  "triad", "update"};

CLI::Option* add_stores_option(CLI::App& app, std::string& stores) {
  return app
      .add_option(
          "--stores", stores,
          "ordinary (fetch the line before they write), non-temporal or nt (past the caches); "
          "several: ordinary,non-temporal")
      ->type_name("KINDS")
      ->capture_default_str();
}

CLI::Option* add_isa_option(CLI::App& app, std::string& isa) {
  return app
      .add_option("--isa", isa, "instruction set of the kernels (default: the widest there is)")
      ->type_name("NAME")
      ->group("Measurement");
}

Expected<std::vector<Stores>> parse_stores(const std::string& text) {
  // Tables have no room for more than "triad nt".
  const auto words = parse_words(text, "--stores",
                                 {name_of(Stores::ordinary), name_of(Stores::non_temporal), "nt"});
  if (!words) return fail(words.error());
  std::vector<Stores> stores;
  for (const std::string& word : *words) {
    stores.push_back(word == name_of(Stores::ordinary) ? Stores::ordinary : Stores::non_temporal);
    if (stores.back() == Stores::non_temporal && !has_non_temporal_stores()) {
      return fail(ErrorKind::unavailable,
                  fmt::format("--stores: {} has no non-temporal stores", instruction_set()));
    }
  }
  return stores;
}

std::string Choice::stores() const { return writes ? name_of(spec.stores) : ""; }

std::string Choice::short_name() const {
  return name + (writes && spec.stores == Stores::non_temporal ? " nt" : "");
}

void KernelOptions::add_to(CLI::App& app) {
  auto* const kernels =
      app.add_option("--kernels", kernels_text_,
                     "read, write, copy, scale, add, triad, update; several: read,copy")
          ->type_name("NAMES")
          ->capture_default_str();
  auto* const mix =
      refuse_empty(app.add_option("--mix", mix_text_,
                                  "also lines read to lines written: 2:1; several: 2:1,1:1; none"))
          ->type_name("R:W");
  if (!mix_text_.empty()) mix->capture_default_str();
  options_ = {kernels, mix, add_stores_option(app, stores_text_), add_isa_option(app, isa_)};
}

std::string KernelOptions::given() const {
  for (const CLI::Option* option : options_) {
    if (option->count() > 0) return option->get_name();
  }
  return "";
}

Expected<std::vector<Choice>> KernelOptions::parse() const {
  if (auto used = use_instruction_set(isa_); !used) return fail(used.error());
  const auto kernels = parse_words(kernels_text_, "--kernels", stream_kernels);
  if (!kernels) return fail(kernels.error());
  const auto stores = parse_stores(stores_text_);
  if (!stores) return fail(stores.error());
  std::vector<Choice> wanted;
  for (const std::string& kernel : *kernels) {
    wanted.push_back({kernel, {}, kernel != "read"});
    wanted.back().spec.name = kernel;
  }
  if (!mix_text_.empty() && mix_text_ != no_mix) {
    for (const std::string& text : words_of(mix_text_)) {
      const auto mix = parse_mix(text);
      if (!mix) return fail(mix.error());
      KernelSpec spec;
      spec.name = "mix";
      std::tie(spec.mix_reads, spec.mix_writes) = *mix;
      wanted.push_back({full_name(spec), spec, true});
    }
  }
  std::vector<Choice> choices;
  for (Choice& choice : wanted) {
    for (Stores kind : *stores) {
      choice.spec.stores = kind;
      choices.push_back(choice);
      if (!choice.writes) break;  // nothing to store
    }
  }
  return choices;
}

}  // namespace numatlas
