#include "loco_sim/scenario/schema.hpp"

#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/scenario/scenario.hpp"

namespace loco::scenario {

namespace {

using Json = nlohmann::ordered_json;

Json quantity_json(const char* units, bool bare) {
  const std::string number = "[0-9]+(\\.[0-9]+)?";
  const std::string optional = bare ? "?" : "";
  Json json = {{"type", {"string", "integer"}},
               {"pattern", fmt::format("^(0|{} ?({}){})$", number, units, optional)},
               {"minimum", 0}};
  if (!bare) json["maximum"] = 0;  // without a unit nothing but 0
  return json;
}

Json type_json(const Key& key) {
  switch (key.type) {
    case KeyType::text:
      return {{"type", {"string", "number"}}};
    case KeyType::integer: {
      Json json = {{"type", "integer"}, {"minimum", key.least}};
      if (key.most != std::numeric_limits<std::int64_t>::max()) json["maximum"] = key.most;
      return json;
    }
    case KeyType::boolean:
      return {{"type", "boolean"}};
    case KeyType::duration:
      return quantity_json("ps|ns|us|ms|s", false);
    case KeyType::size:
      return quantity_json("B|kB|KiB|MB|MiB|GB|GiB", true);
    case KeyType::rate:
      return quantity_json("bps|kbps|Mbps|Gbps|Tbps", false);
    case KeyType::choice:
      return {{"enum", key.choices}};
    case KeyType::choices: {
      const Json one = {{"enum", key.choices}};
      return {{"anyOf", Json::array({one, {{"type", "array"}, {"items", one}, {"uniqueItems", true}}})}};
    }
    case KeyType::subtree:
      return {{"type", "object"}};
    case KeyType::list:
      return {{"type", "array"}};
  }
  return {};
}

Json key_json(const Key& key) {
  Json json = type_json(key);
  json["description"] = key.doc;
  if (!key.fallback.empty() && (key.type == KeyType::integer || key.type == KeyType::boolean)) {
    json["default"] = Json::parse(key.fallback);
  } else if (!key.fallback.empty() && key.type != KeyType::choices) {
    json["default"] = key.fallback;
  }
  return json;
}

Json empty_object() { return {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}}; }

/// Puts a key's description at its place in a tree of objects.
void add(Json& object, std::string_view path, const Key& key) {
  const std::size_t dot = path.find('.');
  Json& properties = object["properties"];
  const std::string name(path.substr(0, dot));
  if (dot == std::string_view::npos) {
    properties[name] = key_json(key);
    return;
  }
  if (!properties.contains(name)) properties[name] = empty_object();
  add(properties[name], path.substr(dot + 1), key);
}

Json object_of(const KeyTable& table, std::string_view prefix) {
  Json object = empty_object();
  for (const Key& key : table) add(object, std::string_view(key.path).substr(prefix.size()), key);
  return object;
}

Json workload_json(const std::string& doc) {
  Json kinds = Json::array();
  for (const std::string& kind : workload_kinds()) {
    Json object = object_of(workload_keys(kind), "workload.");
    object["properties"]["kind"] = {{"const", kind}, {"description", workload_description(kind)}};
    object["required"] = {"kind"};
    kinds.push_back(std::move(object));
  }
  return {{"description", doc}, {"oneOf", kinds}};
}

Json hardware_json(const std::string& doc) {
  KeyTable table = hardware_keys("");
  for (Key& key : table) key.fallback.clear();  // they come from the base
  Json changed = object_of(table, "");
  changed["properties"]["base"] = {{"type", "string"}, {"description", "The profile to start from."}};
  return {{"description", doc},
          {"anyOf", Json::array({{{"type", "string"}, {"examples", hardware_names()}}, changed})}};
}

/// `{form: [...]}` with so many numbers.
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

std::string rows(const KeyTable& table) {
  std::string out = "| key | default | expected | meaning |\n|---|---|---|---|\n";
  for (const Key& key : table) {
    const std::string expected = key.type == KeyType::subtree ? "see below" : expectation(key);
    out += fmt::format("| `{}` | {} | {} | {} |\n", key.path, cell(key.fallback), expected, key.doc);
  }
  return out;
}

}  // namespace

std::string json_schema() {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "loco-sim scenario"}};
  schema.update(object_of(scenario_keys(), ""));
  Json& properties = schema["properties"];
  for (const Key& key : scenario_keys()) {
    if (key.path == "workload") properties["workload"] = workload_json(key.doc);
    if (key.path == "hardware") properties["hardware"] = hardware_json(key.doc);
    if (key.path == "sweep") {
      properties["sweep"] = sweep_json(key.doc);
    }
  }
  schema["required"] = {"workload"};
  return schema.dump(2) + "\n";
}

std::string reference() {
  std::string out = "### Scenario\n\n" + rows(scenario_keys());
  for (const std::string& kind : workload_kinds()) {
    out += fmt::format("\n### Workload `{}`\n\n{}.\n\n{}", kind, workload_description(kind), rows(workload_keys(kind)));
  }
  out += "\n### Faults\n\n| fault | what goes wrong |\n|---|---|\n";
  for (const std::string& name : fault_names()) out += fmt::format("| `{}` | {} |\n", name, fault_description(name));
  return out;
}

}  // namespace loco::scenario
