#include "verify/engines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdexcept>
#include <utility>

#ifdef LOCO_SIM_Z3
#include "verify/abstract/extrapolate_engine.hpp"
#endif
#include "verify/abstract/predicate_engine.hpp"
#include "verify/auto_engine.hpp"
#include "verify/explicit_engine.hpp"

namespace loco::verify {

namespace {

std::unique_ptr<Engine> make_explicit(std::vector<Expression> /*predicates*/) { return explicit_engine(); }

/// The explicit engine, which `auto` has on its own account, and the better one of the two that know infinite data.
std::unique_ptr<Engine> make_auto(std::vector<Expression> predicates) {
  return auto_engine([given = std::move(predicates)] { return predicate_engine(given); });
}

}  // namespace

const std::vector<EngineKind>& engine_kinds() {
  static const std::vector<EngineKind> kKinds = {
      {kEngineNames[0], make_auto, true, ""},
      {kEngineNames[1], make_explicit, false, ""},
      {kEngineNames[2], predicate_engine, true, ""},
#ifdef LOCO_SIM_Z3
      {kEngineNames[3], extrapolate_engine, true, ""},
#else
      {kEngineNames[3], nullptr, true, "it needs Z3 (apt-get install libz3-dev, then build again)"},
#endif
  };
  return kKinds;
}

std::unique_ptr<Engine> make_engine(const std::string& name, const std::vector<Expression>& predicates) {
  for (const EngineKind& kind : engine_kinds()) {
    if (kind.name == name) {
      if (!kind.takes_predicates && !predicates.empty())
        throw std::invalid_argument(fmt::format("expected an engine that takes predicates, found {}", name));
      if (kind.make != nullptr) return kind.make(predicates);
      throw std::invalid_argument(fmt::format("engine {} is not in this build: {}", name, kind.missing));
    }
  }
  throw std::invalid_argument(
      fmt::format("expected an engine, one of {}, found \"{}\"", fmt::join(kEngineNames, ", "), name));
}

}  // namespace loco::verify
