// loco-sim list, loco-sim schema.
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fabric/topology/kinds.hpp"
#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/cli/usage.hpp"
#include "loco_sim/scenario/data.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "loco_sim/scenario/schema.hpp"
#include "model/litmus/language/rule_set.hpp"
#include "nic_model/profile_options.hpp"
#include "text/file.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/node.hpp"

namespace loco::cli {

namespace {

using Rows = std::vector<std::vector<std::string>>;

/// A heading and its rows: as a table, or as an array of objects whose keys are the heading.
void show(const Rows& rows, bool json) {
  if (!json) {
    print(table(rows, false));
    return;
  }
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (std::size_t i = 1; i < rows.size(); ++i) {
    nlohmann::ordered_json object;
    for (std::size_t k = 0; k < rows[i].size(); ++k) object[rows[0][k]] = rows[i][k];
    out.push_back(std::move(object));
  }
  print(out);
}

void require_known(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw text::InputError({fmt::format("loco-sim list {}", what), 0, 0}, "", text::one_of(known), text::in_quotes(name),
                         text::suggestion(name, known));
}

Rows hardware_rows(const std::string& name) {
  Rows rows;
  if (name.empty()) {
    rows.push_back({"hardware", "description"});
    for (const std::string& known : scenario::hardware_names()) {
      rows.push_back({known, scenario::load_hardware(known).description});
    }
    return rows;
  }
  const scenario::Hardware hardware = named_hardware("loco-sim list hardware", name);
  rows.push_back({"key", "value", "meaning"});
  for (const options::Option& option : nic::profile_options()) {
    rows.push_back({std::string(option.key), options::format_number(nic::value(hardware.profile, option), option),
                    std::string(option.doc)});
  }
  return rows;
}

Rows workload_rows(const std::string& name) {
  Rows rows;
  if (name.empty()) {
    rows.push_back({"workload", "description"});
    for (const std::string& kind : scenario::workload_kinds()) {
      rows.push_back({kind, scenario::workload_description(kind)});
    }
    return rows;
  }
  require_known("workloads", name, scenario::workload_kinds());
  rows.push_back({"key", "default", "expected", "meaning"});
  for (const options::Option& option : scenario::workload_options(name)) {
    rows.push_back({fmt::format("workload.{}", option.key), options::default_text(option), options::expectation(option),
                    std::string(option.doc)});
  }
  return rows;
}

/// The rows of a table with a name and a description each; or the heading and the one row that is asked for.
Rows chosen(const std::string& what, Rows rows, const std::string& name) {
  if (name.empty()) return rows;
  std::vector<std::string> known;
  for (std::size_t i = 1; i < rows.size(); ++i) known.push_back(rows[i][0]);
  require_known(what, name, known);
  const auto at = std::find_if(rows.begin() + 1, rows.end(), [&](const auto& row) { return row[0] == name; });
  return {rows[0], *at};
}

Rows topology_rows(const std::string& name) {
  Rows rows = {{"topology", "description"}};
  for (const fabric::topology::KindInfo& kind : fabric::topology::kinds()) {
    rows.push_back({std::string(kind.name), std::string(kind.doc)});
  }
  if (name.empty()) return rows;
  const Rows kind = chosen("topologies", rows, name);
  rows = {{"key", "default", "expected", "meaning"}, {"topology.kind", "", name, kind[1][1]}};
  for (const options::Option& p : fabric::topology::info(*fabric::topology::kind_of(name)).parameters) {
    const std::string path = fmt::format("topology.{}", p.key);
    const options::Option* const key = scenario::find_option(scenario::scenario_table(), path);
    rows.push_back({path, options::default_text(p), options::expectation(*key), std::string(p.doc)});
  }
  return rows;
}

Rows model_rows() {
  Rows rows = {{"model", "description"},
               {"rdmawait", "CPU accesses, put, get, remote atomics, wait, fences: the base of all others"},
               {"sv", "shared variables: broadcast and global fence"},
               {"bal", "barriers"},
               {"rbl", "ring buffers: one writer, many readers"},
               {"msw", "values of several words that are never read torn"},
               {"lock", "locks: mutual exclusion, release before acquire"},
               {"kvstore", "the key-value store: linearisable"},
               {"tower", "beside others: what each of them promises, against the level below"},
               {"loco", "litmus tests: rdmawait, sv, bal, rbl and msw together"},
               {"rdmatso", "litmus tests: what rdmawait stands on, with polls in order in place of waits"},
               {"sc", "litmus tests: accesses take effect one by one"}};
  for (const model::litmus::NamedRuleSet& set : model::litmus::named_rule_sets()) {
    rows.push_back({std::string(set.name), fmt::format("litmus tests: {} ({})", set.description, set.rules.text())});
  }
  return rows;
}

Rows fault_rows() {
  Rows rows = {{"fault", "description"}};
  for (const std::string& name : scenario::fault_names()) rows.push_back({name, scenario::fault_description(name)});
  return rows;
}

/// The first sentence of a scenario's description, or of the comment that it begins with.
std::string about_scenario(const std::string& text) {
  const yaml::Node document = yaml::parse_document(text, "");
  std::string about;
  if (const yaml::Node* description = document.find("description"); description != nullptr) {
    about = description->text;
  } else {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line) && line.starts_with("# ") && !line.starts_with("#  ");)
      about += (about.empty() ? "" : " ") + line.substr(2);
  }
  for (std::size_t at = about.find_first_of(".?"); at != std::string::npos; at = about.find_first_of(".?", at + 1)) {
    if (about.compare(at + 1, 1, " ") == 0 && !about.substr(0, at).ends_with("Fig")) return about.substr(0, at + 1);
  }
  return about;
}

Rows scenario_rows() {
  Rows rows = {{"scenario", "description"}};
  for (const std::string& name : scenario::scenario_names()) {
    rows.push_back({name, about_scenario(text::read_file(scenario::find_scenario(name), yaml::kFileBytesMax))});
  }
  return rows;
}

}  // namespace

int list_command(const ListArguments& arguments) {
  if (arguments.what == "hardware") show(hardware_rows(arguments.name), arguments.json);
  if (arguments.what == "scenarios") show(chosen("scenarios", scenario_rows(), arguments.name), arguments.json);
  if (arguments.what == "workloads") show(workload_rows(arguments.name), arguments.json);
  if (arguments.what == "topologies") show(topology_rows(arguments.name), arguments.json);
  if (arguments.what == "models") show(chosen("models", model_rows(), arguments.name), arguments.json);
  if (arguments.what == "faults") show(chosen("faults", fault_rows(), arguments.name), arguments.json);
  return kDone;
}

int schema_command(bool reference) {
  print(reference ? scenario::reference() : scenario::json_schema());
  return kDone;
}

}  // namespace loco::cli
