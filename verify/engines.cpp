#include "verify/engines.hpp"

#include <fmt/format.h>
#include <stdexcept>
#include <utility>

#include "verify/abstract/predicate_engine.hpp"
#include "verify/auto_engine.hpp"
#include "verify/explicit_engine.hpp"

namespace loco::verify {

namespace {

std::unique_ptr<Engine> make_explicit() { return explicit_engine(); }

/// All engines but the explicit one, which `auto` has on its own account.
std::unique_ptr<Engine> make_auto() {
  std::vector<std::unique_ptr<Engine>> others;
  for (const EngineKind& kind : engine_kinds()) {
    if (kind.name != "auto" && kind.name != "explicit" && kind.make != nullptr) others.push_back(kind.make());
  }
  return auto_engine(std::move(others));
}

}  // namespace

const std::vector<EngineKind>& engine_kinds() {
  static const std::vector<EngineKind> kKinds = {
      {"auto", make_auto, ""},
      {"explicit", make_explicit, ""},
      {"predicates", predicate_engine, ""},
  };
  return kKinds;
}

std::unique_ptr<Engine> make_engine(const std::string& name) {
  std::string known;
  for (const EngineKind& kind : engine_kinds()) {
    if (kind.name == name) {
      if (kind.make != nullptr) return kind.make();
      throw std::invalid_argument(fmt::format("engine {} is not in this build: {}", name, kind.missing));
    }
    known += (known.empty() ? "" : ", ") + kind.name;
  }
  throw std::invalid_argument(fmt::format("expected an engine, one of {}, found '{}'", known, name));
}

}  // namespace loco::verify
