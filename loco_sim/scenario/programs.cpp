#include "loco_sim/scenario/programs.hpp"

#include "text/input_error.hpp"

namespace loco::scenario {

const yaml::Node* programs_workload(const yaml::Node& root) {
  using Kind = yaml::Node::Kind;
  const yaml::Node* const workload = root.kind == Kind::map ? root.find("workload") : nullptr;
  const yaml::Node* const kind = workload != nullptr && workload->kind == Kind::map ? workload->find("kind") : nullptr;
  return kind != nullptr && kind->text == "programs" ? workload : nullptr;
}

bool runs_programs(std::string_view text, const std::string& file) {
  try {
    return programs_workload(yaml::parse_document(text, file)) != nullptr;
  } catch (const text::InputError&) {
    return false;
  }
}

}  // namespace loco::scenario
