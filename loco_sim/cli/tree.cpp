#include "loco_sim/cli/tree.hpp"

#include <CLI/CLI.hpp>
#include <sstream>

namespace loco::cli {

namespace {

/// `TEXT:{a,b}` -> a, b
std::vector<std::string> choices_in(const std::string& type) {
  std::vector<std::string> choices;
  const std::size_t open = type.find('{');
  if (open == std::string::npos) return choices;
  std::istringstream in(type.substr(open + 1, type.find('}', open) - open - 1));
  for (std::string word; std::getline(in, word, ',');) choices.push_back(word);
  return choices;
}

OptionInfo describe(const CLI::Option& option) {
  OptionInfo info;
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  info.name = option.get_name(true);
  info.description = option.get_description();
  const std::string type = option.get_type_name();
  info.choices = choices_in(type);
  if (option.get_expected_max() > 0) info.value = info.choices.empty() ? type.substr(0, type.find(':')) : "WORD";
  return info;
}

CommandInfo describe_below(const CLI::App& app, const std::string& path) {
  CommandInfo info{path, app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) info.options.push_back(describe(*option));  // others are not shown
  }
  for (const CLI::App* command : app.get_subcommands(
           static_cast<const std::function<bool(const CLI::App*)>&>([](const CLI::App*) { return true; }))) {
    info.commands.push_back(
        describe_below(*command, path.empty() ? command->get_name() : path + " " + command->get_name()));
  }
  return info;
}

}  // namespace

CommandInfo describe(const CLI::App& app) { return describe_below(app, ""); }

}  // namespace loco::cli
