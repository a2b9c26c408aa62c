#include "loco_sim/scenario/schema.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

#include "loco_sim/scenario/classes.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/scenario/hosts.hpp"
#include "loco_sim/scenario/pcie_tree.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "nic_model/profile_options.hpp"
#include "text/json.hpp"

namespace loco::scenario {

namespace {

using Json = nlohmann::ordered_json;

Json quantity_json(const char* units, bool bare) {
  const std::string number = "[0-9]+(\\.[0-9]+)?";
  const std::string optional = bare ? "?" : "";
  Json json = {{"type", {"string", "integer"}},
               {"pattern", fmt::format("^(0|{} ?({}){})$", number, units, optional)},
               {"minimum", 0}};
  if (!bare) json["maximum"] = 0;  // without a unit only 0 is valid
  return json;
}

Json type_json(const Option& key) {
  switch (key.type) {
    case Type::text:
      return {{"type", {"string", "number"}}};
    case Type::integer: {
      Json json = {{"type", "integer"}, {"minimum", key.least}};
      if (key.most != options::kUnbounded) json["maximum"] = key.most;
      return json;
    }
    case Type::boolean:
      return {{"type", "boolean"}};
    case Type::duration:
      return quantity_json("ps|ns|us|ms|s", false);
    case Type::size:
      return quantity_json("B|kB|KiB|MB|MiB|GB|GiB", true);
    case Type::rate:
      return quantity_json("bps|kbps|Mbps|Gbps|Tbps", false);
    case Type::choice:
      return {{"enum", key.choices}};
    case Type::choices: {
      const Json one = {{"enum", key.choices}};
      return {{"anyOf", Json::array({one, {{"type", "array"}, {"items", one}, {"uniqueItems", true}}})}};
    }
    case Type::map:
      return {{"type", "object"}};
    case Type::list:
      return {{"type", "array"}};
  }
  return {};
}

Json key_json(const Option& key, Fill fill) {
  Json json = type_json(key);
  json["description"] = key.doc;
  if (fill == Fill::given_only || key.fallback.none() || key.type == Type::choices) return json;
  if (key.type == Type::integer)
    json["default"] = key.fallback.number();
  else if (key.type == Type::boolean)
    json["default"] = key.fallback.number() != 0;
  else
    json["default"] = options::default_text(key);
  return json;
}

Json empty_object() { return {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}}; }

/// Adds a key's description at its path in a tree of objects.
void add(Json& object, std::string_view path, Json key) {
  const std::size_t dot = path.find('.');
  Json& properties = object["properties"];
  const std::string name(path.substr(0, dot));
  if (dot == std::string_view::npos) {
    properties[name] = std::move(key);
    return;
  }
  if (!properties.contains(name)) properties[name] = empty_object();
  add(properties[name], path.substr(dot + 1), std::move(key));
}

Json object_of(const Table& table, Fill fill = Fill::defaults) {
  Json object = empty_object();
  for_each(table, [&](const std::string& path, const Option& key) { add(object, path, key_json(key, fill)); });
  return object;
}

/// The workload `programs`, which only `loco-sim exec` reads (cli/exec_scenario.cpp); it is not in workload_kinds().
Json programs_json() {
  const Json words = {{"type", "array"},
                      {"minItems", 1},
                      {"items", {{"type", {"string", "number", "boolean"}}}},
                      {"description", "A program and its arguments."}};
  Json after = quantity_json("ps|ns|us|ms|s", false);
  after["description"] = "When it starts; when left out, a millisecond times the host's number.";
  const Json variables = {{"type", "object"},
                          {"description", "Variables of its environment, beside those of loco-sim."}};
  const Json started = {{"type", "object"},
                        {"additionalProperties", false},
                        {"required", {"run"}},
                        {"properties", {{"run", words}, {"after", after}, {"env", variables}}}};
  const Json hosts = {{"type", "object"},
                      {"minProperties", 1},
                      {"propertyNames", {{"pattern", "^[0-9]+$"}}},
                      {"additionalProperties", {{"anyOf", Json::array({words, started})}}},
                      {"description", "The program of each host, by the host's number."}};
  const Json kind = {{"const", "programs"}, {"description", "verbs programs as they were compiled, for loco-sim exec"}};
  return {{"type", "object"},
          {"additionalProperties", false},
          {"properties", {{"kind", kind}, {"hosts", hosts}}},
          {"required", {"kind", "hosts"}}};
}

/// Congestion control, described once for all workloads.
Json congestion_json() {
  Json congestion = object_of({{"", congestion_options()}}, Fill::given_only);
  congestion["required"] = {"algorithm"};
  congestion["description"] = std::string(find_option({{"", service_options()}}, "congestion")->doc);
  return congestion;
}

/// Adds what any workload may have besides its parameters.
void add_service(Json& object) {
  for (const Option& key : service_options())
    object["properties"][std::string(key.key)] = key_json(key, Fill::defaults);
  object["properties"]["congestion"] = {{"$ref", "#/definitions/congestion"}};
}

Json classes_json(const std::string& doc) {
  Json one = object_of({{"", class_options()}}, Fill::given_only);
  const Json weight = {{"type", "integer"}, {"minimum", 1}, {"maximum", 1'000}};
  one["properties"]["schedule"] = {
      {"description", one["properties"]["schedule"]["description"]},
      {"anyOf",
       Json::array({{{"const", "strict"}},
                    {{"type", "object"}, {"additionalProperties", false}, {"properties", {{"weight", weight}}}}})}};
  one["required"] = {"id"};
  return {{"description", doc}, {"type", "array"}, {"maxItems", fabric::kClasses}, {"items", one}};
}

Json workload_json(const std::string& doc) {
  Json kinds = Json::array();
  for (const std::string& kind : workload_kinds()) {
    Json object = object_of({{"", workload_options(kind)}});
    object["properties"]["kind"] = {{"const", kind}, {"description", workload_description(kind)}};
    add_service(object);
    if (workloads::find(kind)->collective) {
      object["properties"]["ranks"] = key_json(collective_options().back(), Fill::defaults);
      object["properties"]["sizes"] = key_json(collective_options().front(), Fill::defaults);
      object["properties"]["sizes"]["items"] = object["properties"]["size"];
    }
    object["required"] = {"kind"};
    kinds.push_back(std::move(object));
  }
  kinds.push_back(programs_json());
  return {{"description", doc}, {"oneOf", kinds}};
}

/// `workloads`: the kinds that can share a run, each with its hosts and its start.
Json workload_list_json(const std::string& doc) {
  Json start = quantity_json("ps|ns|us|ms|s", false);
  start["description"] = "When it begins.";
  const Json node = {{"type", {"integer", "string"}}, {"pattern", "^[0-9]+(-[0-9]+)?$"}};
  Json kinds = Json::array();
  for (const workloads::Workload& workload : workloads::all()) {
    if (!workload.shares) continue;
    Json object = object_of({{"", workload.params}});
    Json& keys = object["properties"];
    keys["kind"] = {{"const", workload.kind}, {"description", workload.doc}};
    keys["name"] = {{"type", {"string", "number"}}, {"description", "What results call it; its kind when left out."}};
    keys["nodes"] = {{"type", "array"},
                     {"items", node},
                     {"description", "Its hosts, in the order of its ranks: 3, or 0-15; all when left out."}};
    keys["transport"] = {{"$ref", "#/definitions/transport"}};
    keys["start"] = start;
    if (workload.collective) keys["ranks"] = keys["nodes"];
    add_service(object);
    object["required"] = {"kind"};
    kinds.push_back(std::move(object));
  }
  return {{"description", doc},
          {"type", "array"},
          {"minItems", 1},
          {"maxItems", workloads::kPartsMost},
          {"items", {{"oneOf", kinds}}}};
}

Json hardware_json(const std::string& doc) {
  Json changed = object_of({{"", nic::profile_options()}, {"transport.", nic::transport_options()}},
                           Fill::given_only);  // the others come from the base
  changed["properties"]["nic"] = {
      {"anyOf", Json::array({{{"type", "string"}, {"description", "The profile whose NIC and network it is."}},
                             changed["properties"]["nic"]})}};
  changed["properties"]["host"] = {{"type", "string"}, {"description", "The profile whose CPU and PCIe it is."}};
  changed["properties"]["base"] = {{"type", "string"}, {"description", "The profile to start from."}};
  changed["properties"]["name"] = {
      {"type", "string"}, {"maxLength", 300}, {"description", "What results call it; of what it is when left out."}};
  return {{"description", doc},
          {"anyOf", Json::array({{{"type", "string"}, {"examples", hardware_names()}}, changed})}};
}

Json hosts_json(const std::string& doc) {
  const auto doc_of = [](std::string_view key) { return std::string(find_option({{"", host_options()}}, key)->doc); };
  const Json one = {{"type", {"integer", "string"}}, {"pattern", "^[0-9]+(-[0-9]+)?$"}, {"minimum", 0}};
  const Json some = {{"type", "array"}, {"minItems", 1}, {"items", one}};
  Json device = object_of({{"", device_options()}});
  device["required"] = {"kind"};
  Json host = object_of({{"", host_options()}});
  host["properties"]["nodes"] = {{"description", doc_of("nodes")}, {"anyOf", Json::array({one, some})}};
  host["properties"]["hardware"] = hardware_json(doc_of("hardware"));
  Json one_switch = object_of({{"", switch_options()}});
  one_switch["required"] = {"name"};
  host["properties"]["pcie"]["properties"]["switches"] = {
      {"type", "array"}, {"description", doc_of("pcie.switches")}, {"items", one_switch}};
  host["properties"]["devices"] = {{"type", "array"}, {"description", doc_of("devices")}, {"items", device}};
  return {{"type", "array"}, {"description", doc}, {"items", host}};
}

/// `{form: [...]}` with this many numbers.
Json form_json(const char* form, std::size_t items, const char* doc) {
  Json list = {{"type", "array"}, {"minItems", items}, {"description", doc}};
  if (items > 1) {
    list["maxItems"] = items;
    list["items"] = {{"type", {"integer", "string"}}};
  }
  return {{"type", "object"}, {"additionalProperties", false}, {"required", {form}}, {"properties", {{form, list}}}};
}

Json sweep_json(const std::string& doc) {
  const Json axis = Json::array({{{"type", "array"}, {"minItems", 1}},
                                 form_json("range", 3, "[FROM, TO, STEP]: FROM, and by steps up to TO."),
                                 form_json("log_range", 3, "[FROM, TO, COUNT]: by equal factors."),
                                 form_json("uniform", 2, "[FROM, TO]: drawn at random."),
                                 form_json("log_uniform", 2, "[FROM, TO]: drawn at random, each octave as likely."),
                                 form_json("choice", 1, "One of these at random.")});
  const Json samples = {{"type", "integer"},
                        {"minimum", 1},
                        {"maximum", kSweepRunsMax},
                        {"default", 1},
                        {"description", "Draws from the random axes, at each combination of the others."}};
  const Json seed = {{"type", "integer"}, {"minimum", 0}, {"default", 1}, {"description", "Decides the random draws."}};
  return {{"description", doc},
          {"type", "object"},
          {"properties", {{"samples", samples}, {"sample_seed", seed}}},
          {"additionalProperties", {{"anyOf", axis}}}};
}

std::string cell(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

std::string key_rows(const Table& table) {
  std::string out = "| key | default | expected | meaning |\n|---|---|---|---|\n";
  for_each(table, [&](const std::string& path, const Option& key) {
    const std::string expected = key.type == Type::map ? "see below" : options::expectation(key);
    out += fmt::format("| `{}` | {} | {} | {} |\n", path, cell(options::default_text(key)), expected, key.doc);
  });
  return out;
}

}  // namespace

std::string json_schema() {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"$id", "urn:loco-sim:scenario"},
                 {"title", "loco-sim scenario"}};
  schema.update(object_of(scenario_table()));
  Json& properties = schema["properties"];
  const auto doc = [](std::string_view key) { return std::string(find_option(scenario_table(), key)->doc); };
  properties["fabric"]["properties"]["classes"] = classes_json(doc("fabric.classes"));
  properties["workload"] = workload_json(doc("workload"));
  properties["workloads"] = workload_list_json(doc("workloads"));
  properties["hardware"] = hardware_json(doc("hardware"));
  properties["hosts"] = hosts_json(doc("hosts"));
  properties["sweep"] = sweep_json(doc("sweep"));
  properties["transport"] = {
      {"anyOf", Json::array({properties["transport"]["properties"]["kind"], properties["transport"]})}};
  schema["definitions"] = {{"congestion", congestion_json()}, {"transport", properties["transport"]}};
  schema["definitions"]["transport"]["description"] =
      "Of its queue pairs; what it leaves out is the run's, where that is of the same kind.";
  schema["oneOf"] = Json::array({{{"required", {"workload"}}}, {{"required", {"workloads"}}}});
  return text::json_text(schema, 2) + "\n";
}

std::string reference() {
  std::string out = "### Scenario\n\n" + key_rows(scenario_table());
  for (const std::string& kind : workload_kinds()) {
    Table table = {{"workload.", workload_options(kind)}};
    if (workloads::find(kind)->collective) table.push_back({"", collective_options()});
    out += fmt::format("\n### Workload `{}`\n\n{}.\n\n{}", kind, workload_description(kind), key_rows(table));
  }
  out += "\n### Any workload\n\nBeside its parameters, and in `workloads`.\n\n" +
         key_rows({{"workload.", service_options()}}) + "\n### `fabric.classes`\n\nOf each entry.\n\n" +
         key_rows({{"", class_options()}});
  out += "\n### Faults\n\n| fault | what goes wrong |\n|---|---|\n";
  for (const std::string& name : fault_names()) out += fmt::format("| `{}` | {} |\n", name, fault_description(name));
  return out;
}

}  // namespace loco::scenario
