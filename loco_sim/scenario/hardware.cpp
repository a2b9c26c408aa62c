#include "loco_sim/scenario/hardware.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "loco_sim/scenario/data.hpp"
#include "nic_model/delivery/transports.hpp"
#include "nic_model/profile_options.hpp"
#include "options/rows.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/node.hpp"

namespace loco::scenario {

namespace fs = std::filesystem;

namespace {

constexpr int kBasesMax = 8;  // length of a chain of profiles, each the base of the one before

constexpr std::array kBase = {rows::text("base", {1, 256}, "the profile to start from")};
constexpr Option kName = {.key = "name", .least = 1, .most = 300};
constexpr std::array kNamed = {kName};
constexpr std::array kAbout = {kName, rows::text("description", {0, 4096})};

void apply(nic::HardwareProfile& profile, const Settings& settings, const std::string& prefix) {
  for (const Option& option : nic::profile_options()) {
    const auto given = settings.find(prefix + std::string(option.key));
    if (given != settings.end()) nic::set_value(profile, option, given->second.number);
  }
  set_transport(profile, settings, prefix + "transport.");
}

/// The path of the profile, or empty if there is none.
std::string find_profile(const std::string& name, const text::Place& place) {
  if (name.find('/') != std::string::npos || name.ends_with(".yaml"))
    return place.line != 0 ? find_beside(place.file, name) : name;
  for (const std::string& directory : hardware_directories()) {
    std::error_code ignored;
    const fs::path candidate = fs::path(directory) / (name + ".yaml");
    if (fs::is_regular_file(candidate, ignored)) return candidate.string();
  }
  return {};
}

Hardware load(const std::string& name, const text::Place& place, const std::string& key, int depth);

/// The given field that the error `wrong` names. One from the command line is preferred to those of the file, which
/// were valid without it.
Settings::const_iterator misfit(const Settings& settings, const std::string& prefix, const std::string& wrong) {
  auto found = settings.end();
  for (auto field = settings.begin(); field != settings.end(); ++field) {
    if (!field->second.given || wrong.find(field->first.substr(prefix.size())) == std::string::npos) continue;
    if (found == settings.end() || (found->second.place.line != 0 && field->second.place.line == 0)) found = field;
  }
  return found;
}

constexpr Option kNic = rows::text("nic", {1, 256}, "the profile whose NIC and network it is");
constexpr Option kHost = rows::text("host", {1, 256}, "the profile whose CPU and PCIe it is");

/// True for a key of the host around a NIC.
bool is_of_host(std::string_view key) { return key.starts_with("cpu.") || key.starts_with("pcie."); }

/// Reads a NIC in a host, where `nic`, `host` or both name profiles, and removes these keys from the map.
Hardware nic_in_host(yaml::Node& node) {
  Hardware hardware = load(kDefaultHardware, node.place, "hardware", 0);
  for (const auto& [part, of_host] : {std::pair{kNic, false}, std::pair{kHost, true}}) {
    const yaml::Node* name = node.find(part.key);
    if (name == nullptr || (!of_host && name->kind != yaml::Node::Kind::scalar)) continue;
    const std::string key = "hardware." + std::string(part.key);
    const Hardware named = load(read_value(*name, key, part).text, name->place, key, 0);
    if (!of_host) {
      hardware = named;
    } else {
      hardware.name += " in " + named.name;
      for (const Option& option : nic::profile_options()) {
        if (is_of_host(option.key)) nic::set_value(hardware.profile, option, nic::value(named.profile, option));
      }
    }
    std::erase_if(node.entries, [&](const yaml::Entry& entry) { return entry.key == part.key; });
  }
  return hardware;
}

/// True if the map names a NIC or a host.
bool names_parts(const yaml::Node& node) {
  if (node.kind != yaml::Node::Kind::map) return false;
  const yaml::Node* nic = node.find("nic");
  return node.find("host") != nullptr || (nic != nullptr && nic->kind == yaml::Node::Kind::scalar);
}

/// Reads a map with fields and possibly `base`; in a file also with name and description.
Hardware read_map(const yaml::Node& node, const std::string& prefix, const Table& table, int depth,
                  Hardware hardware = {}) {
  if (const yaml::Node* base = node.find("base"); node.kind == yaml::Node::Kind::map && base != nullptr) {
    const std::string path = prefix + "base";
    hardware = load(read_value(*base, path, kBase.front()).text, base->place, path, depth + 1);
  }
  const Settings settings = read_settings(node, prefix, table, Fill::given_only);
  apply(hardware.profile, settings, prefix);
  if (const auto name = settings.find("name"); name != settings.end()) hardware.name = name->second.text;
  if (const auto text = settings.find("description"); text != settings.end()) hardware.description = text->second.text;
  if (const std::string wrong = hardware.profile.validate(); !wrong.empty()) {
    const auto field = misfit(settings, prefix, wrong);
    if (field == settings.end())
      throw text::InputError(node.place, prefix.substr(0, prefix.find('.')), "fields that fit together", wrong);
    throw text::InputError(field->second.place, field->first, "fields that fit together", wrong);
  }
  return hardware;
}

/// The first field that neither the profile nor one of its bases gives; empty if all are given.
std::string_view missing_field(const yaml::Node& profile, const nic::HardwareProfile& values) {
  const auto has = [&](std::string_view key) { return yaml::find_at(profile, key) != nullptr; };
  const bool by_rate = has("pcie.rate");
  const bool by_width = has("pcie.generation") && has("pcie.lanes") && values.pcie_generation != 0;
  for (const Option& field : nic::profile_options()) {
    const bool is_width = field.key == "pcie.generation" || field.key == "pcie.lanes";
    if (!has(field.key) && !(is_width && by_rate) && !(field.key == "pcie.rate" && by_width)) return field.key;
  }
  return {};
}

/// A file must give every field, because the table's defaults are no hardware: they cost nothing and have no network.
void require_every_field(const yaml::Node& profile, const nic::HardwareProfile& values) {
  const std::string_view missing = missing_field(profile, values);
  if (!missing.empty())
    throw text::InputError(profile.place, std::string(missing), "a value, or a base that has one", "neither");
}

/// `place` and `key` say where the profile is named.
Hardware load(const std::string& name, const text::Place& place, const std::string& key, int depth) {
  const std::string path = find_profile(name, place);
  if (path.empty()) {
    const std::vector<std::string> known = hardware_names();
    const std::string expected = known.empty() ? "a path: no profile was found" : text::one_of(known);
    throw text::InputError(place, key, expected, text::in_quotes(name), text::suggestion(name, known));
  }
  if (std::error_code ignored; access(path.c_str(), R_OK) != 0 || fs::is_directory(path, ignored))
    throw text::InputError(place, key, "a readable file", text::in_quotes(name));
  if (depth > kBasesMax) throw text::InputError(place, key, "an end to the chain of bases", text::in_quotes(name));
  const Table table = {
      {"", kAbout}, {"", kBase}, {"", nic::profile_options()}, {"transport.", nic::transport_options()}};
  const yaml::Node profile = yaml::load_document(path);
  Hardware hardware = read_map(profile, "", table, depth);
  if (profile.find("base") == nullptr) require_every_field(profile, hardware.profile);
  hardware.name = fs::path(path).stem().string();
  hardware.files.insert(hardware.files.begin(), path);
  return hardware;
}

/// True if there is a profile of that name with other values.
bool is_other_than(const std::string& name, const nic::HardwareProfile& profile) {
  if (std::ranges::count(hardware_names(), name) == 0) return false;
  const nic::HardwareProfile named = load_hardware(name).profile;
  if (!(named.transport == profile.transport)) return true;
  return std::ranges::any_of(nic::profile_options(), [&](const Option& option) {
    return nic::value(named, option) != nic::value(profile, option);
  });
}

}  // namespace

void set_transport(nic::HardwareProfile& profile, const Settings& settings, const std::string& prefix) {
  for (const Option& option : nic::transport_options()) {
    const auto given = settings.find(prefix + std::string(option.key));
    if (given != settings.end() && given->second.given) option.set(&profile.transport, given->second.number);
  }
  if (!nic::reliable_policy(profile).operations.atomics) profile.nic_atomic_cap = nic::AtomicCap::none;
}

std::vector<std::string> hardware_directories() { return data_directories("hardware"); }

std::vector<std::string> hardware_names() {
  std::set<std::string> names;
  for (const std::string& directory : hardware_directories()) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
      if (entry.path().extension() == ".yaml") names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

Hardware load_hardware(const std::string& name) { return load(name, {name, 0, 0}, "hardware", 0); }

Hardware read_hardware(const yaml::Node& given) {
  if (given.kind == yaml::Node::Kind::scalar) return load(given.text, given.place, "hardware", 0);
  yaml::Node node = given;
  const bool parts = names_parts(node);
  if (const yaml::Node* base = node.find("base"); parts && base != nullptr)
    throw text::InputError(base->place, "hardware.base",
                           "none beside hardware.nic or hardware.host, which name profiles",
                           text::in_quotes(base->text));
  const Hardware start = parts ? nic_in_host(node) : load(kDefaultHardware, node.place, "hardware", 0);
  const bool based = node.kind == yaml::Node::Kind::map && node.find("base") != nullptr;
  const Table table = {{"hardware.", kNamed},
                       {"hardware.", kBase},
                       {"hardware.", nic::profile_options()},
                       {"hardware.transport.", nic::transport_options()}};
  Hardware hardware = read_map(node, "hardware.", table, 0, based ? Hardware{} : start);
  if (const yaml::Node* name = node.find("name"); name != nullptr) {
    hardware.name = name->text;
    if (is_other_than(hardware.name, hardware.profile)) hardware.name += " (changed)";
  } else if (!based && missing_field(node, hardware.profile).empty()) {
    hardware.name = "custom";
  } else if (based ? node.entries.size() > 1 : !node.entries.empty()) {
    hardware.name += " (changed)";
  }
  return hardware;
}

}  // namespace loco::scenario
