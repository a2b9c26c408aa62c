// The workloads' parameter tables as keys of a scenario, and the names of faults.
#include <algorithm>
#include <stdexcept>

#include "loco_sim/scenario/scenario.hpp"
#include "loco_sim/workloads/workload.hpp"

namespace loco::scenario {

namespace {

const workloads::Workload& known_workload(const std::string& kind) {
  const workloads::Workload* workload = workloads::find(kind);
  if (workload == nullptr) throw std::out_of_range("no workload " + kind);
  return *workload;
}

Key workload_key(const workloads::ParamSpec& spec) {
  Key key{.path = "workload." + std::string(spec.key), .least = spec.minimum, .most = spec.maximum};
  key.doc = std::string(spec.doc);
  switch (spec.kind) {
    case workloads::ParamKind::count:
      key.type = KeyType::integer;
      break;
    case workloads::ParamKind::size:
      key.type = KeyType::size;
      break;
    case workloads::ParamKind::boolean:
      key.type = KeyType::boolean;
      break;
    case workloads::ParamKind::choice:
      key.type = KeyType::choice;
      break;
  }
  if (key.type == KeyType::choice) {
    key.choices.assign(spec.choices.begin(), spec.choices.end());
    key.fallback = key.choices.at(static_cast<std::size_t>(spec.fallback));
  } else {
    key.fallback = format_number(spec.fallback, key.type);
  }
  return key;
}

}  // namespace

KeyTable workload_keys(const std::string& kind) {
  KeyTable table;
  for (const workloads::ParamSpec& spec : known_workload(kind).params) table.push_back(workload_key(spec));
  return table;
}

std::vector<std::string> workload_kinds() {
  std::vector<std::string> kinds;
  for (const workloads::Workload& workload : workloads::all()) kinds.emplace_back(workload.kind);
  return kinds;
}

std::string workload_description(const std::string& kind) { return std::string(known_workload(kind).doc); }

std::vector<std::string> fault_names() {
  std::vector<std::string> names(nic::kFaultNames.begin(), nic::kFaultNames.end());
  names.insert(names.end(), workloads::kLibraryFaultNames.begin(), workloads::kLibraryFaultNames.end());
  return names;
}

}  // namespace loco::scenario
