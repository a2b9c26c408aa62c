#include "loco_sim/cli/usage.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/file_kind.hpp"
#include "loco_sim/cli/tree.hpp"
#include "loco_sim/scenario/data.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "yaml/node.hpp"

namespace loco::cli {

namespace {

using text::in_quotes;

/// The innermost command that was parsed, and its full name.
const CLI::App& innermost(const CLI::App& app, std::string& path) {
  path += (path.empty() ? "" : " ") + app.get_name();
  const auto below = app.get_subcommands();
  return below.empty() ? app : innermost(*below.front(), path);
}

std::vector<std::string> names(const std::vector<CommandInfo>& commands) {
  std::vector<std::string> out;
  for (const CommandInfo& command : commands) out.push_back(command.name);
  return out;
}

std::vector<std::string> option_names(const CommandInfo& command) {
  std::vector<std::string> out;
  for (const OptionInfo& option : command.options) out.insert(out.end(), option.names.begin(), option.names.end());
  return out;
}

std::string with_hint(const std::string& word, const std::vector<std::string>& known) {
  const std::string hint = text::suggestion(word, known);
  return in_quotes(word) + (hint.empty() ? "" : "; " + hint);
}

/// Words that no option or argument took.
std::string left_over(const CommandInfo& command, const std::vector<std::string>& words) {
  const std::string found = words.empty() ? "nothing; loco-sim help lists them" : in_quotes(words.front());
  if (!words.empty() && words.front().starts_with('-')) {
    const std::vector<std::string> known = option_names(command);
    return fmt::format("expected one of the options {}, found {}", fmt::join(known, ", "),
                       with_hint(words.front(), known));
  }
  if (command.commands.empty()) return fmt::format("expected no further argument, found {}", found);
  const std::vector<std::string> known = names(command.commands);
  if (words.empty() && command.name == "loco-sim") return fmt::format("expected a command, found {}", found);
  return fmt::format("expected {}, found {}", text::one_of(known),
                     words.empty() ? found : with_hint(words.front(), known));
}

/// A missing argument in words: its choices, or its description.
std::string what_is(const CommandInfo& command, const std::string& name) {
  for (const OptionInfo& option : command.options) {
    const bool named = std::ranges::find(option.names, name) != option.names.end();
    if (option.name != name && !named) continue;
    if (!option.choices.empty() && !named) return text::one_of(option.choices);
    return option.description.empty() ? name : fmt::format("{} ({})", name, option.description);
  }
  return name;
}

/// The file that a message is about, `file:line:column: ...` or `file: offset ...`; empty: none that is there.
std::string file_of(const std::string& message) {
  for (std::size_t colon = message.find(':'); colon != std::string::npos; colon = message.find(':', colon + 1)) {
    std::error_code ignored;
    if (std::filesystem::exists(message.substr(0, colon), ignored)) return message.substr(0, colon);
  }
  return {};
}

}  // namespace

std::vector<std::string> words_backwards(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  std::ranges::reverse(words);
  return words;
}

CLI::Validator one_of_words(const std::vector<std::string>& words) {
  const auto refuse = [words](const std::string& text) {
    if (std::ranges::find(words, text) != words.end()) return std::string();
    return fmt::format("expected {}, found {}", text::one_of(words), with_hint(text, words));
  };
  return {refuse, fmt::format("{{{}}}", fmt::join(words, ","))};
}

void refuse_empty_values(CLI::App& command, const std::vector<std::string>& but) {
  const CLI::Validator some_text(
      [](const std::string& text) { return std::string(text.empty() ? "expected a value, found \"\"" : ""); }, "");
  for (CLI::Option* option : command.get_options()) {
    const bool takes_value = option->get_items_expected_max() > 0;
    if (takes_value && std::ranges::find(but, option->get_name()) == but.end()) option->check(some_text);
  }
  for (CLI::App* below : command.get_subcommands({})) refuse_empty_values(*below, but);
}

void refuse_values_of_flags(CLI::App& command) {
  for (CLI::Option* option : command.get_options())
    if (option->get_items_expected_max() == 0) option->disable_flag_override();
  for (CLI::App* below : command.get_subcommands({})) refuse_values_of_flags(*below);
}

scenario::Hardware named_hardware(const std::string& argument, const std::string& name,
                                  const std::vector<std::string>& set) {
  scenario::Hardware named;
  try {
    named = scenario::load_hardware(name);
  } catch (const text::InputError& error) {
    if (error.place().line > 0) throw;  // in the profile's file
    throw text::InputError({argument, 0, 0}, "", error.expected(), error.found(), error.hint());
  }
  if (set.empty()) return named;
  yaml::Node node = yaml::parse_override("{}", argument);
  yaml::Node base;
  base.kind = yaml::Node::Kind::scalar;
  base.text = name;
  base.place = {argument, 0, 0};
  yaml::set_at(node, "base", base);
  for (const std::string& one : set) {
    const scenario::Override override = scenario::parse_set(one);
    constexpr std::string_view kPrefix = "hardware.";
    const std::string key = override.key.starts_with(kPrefix) ? override.key.substr(kPrefix.size()) : override.key;
    yaml::set_at(node, key, yaml::parse_override(override.value, "--set " + one));
  }
  scenario::Hardware changed = scenario::read_hardware(node);
  changed.name = named.name;
  return changed;
}

model::litmus::RuleSet named_rules(const std::string& command, const std::string& list) {
  if (const auto named = model::litmus::find_rule_set(list)) return *named;
  try {
    return model::litmus::parse_rules(list);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}: --rules: {}", command, error.what()));
  }
}

std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  std::string path;
  const CLI::App& at = innermost(app, path);
  const CommandInfo command = describe(at);
  std::string text = error.what();
  const std::vector<std::string> words = app.remaining(true);
  constexpr std::string_view kMissing = " is required";
  constexpr std::string_view kValueOfFlag = " was given a disallowed flag override";
  const bool no_value = error.get_name() == "ArgumentMismatch";
  if (!words.empty() || !command.commands.empty()) {
    text = left_over(command, words);
  } else if (text.ends_with(kMissing)) {
    text = fmt::format("expected {}, found nothing; {} --help",
                       what_is(command, text.substr(0, text.size() - kMissing.size())), path);
  } else if (text.ends_with(kValueOfFlag)) {
    text = fmt::format("--{}: expected no value, found one", text.substr(0, text.size() - kValueOfFlag.size()));
  } else if (no_value) {
    const std::string name = text.substr(0, text.find(':'));
    const CLI::Option* const option = at.get_option_no_throw(name);
    const std::size_t times = option == nullptr ? 0 : option->results().size();
    text = fmt::format("{}: expected {}", name,
                       times > 1 ? fmt::format("one value, found {}", times) : "a value, found nothing");
  }
  return fmt::format("{}: {}", path, text);
}

namespace {
/// Is it the scenario of that name?
bool is_scenario(const std::string& file, const std::string& name) {
  try {
    return scenario::find_scenario(name) == file;
  } catch (const text::InputError&) {
    return false;
  }
}
}  // namespace

std::string with_kind_of_file(const CLI::App& app, const std::string& message) {
  std::string path;
  const CLI::App& command = innermost(app, path);
  const std::string name = path.substr(std::min(app.get_name().size() + 1, path.size()));
  const std::string file = file_of(message);
  if (file.empty()) return message;
  // Elsewhere than as the command's argument, or in a folder that is one, files are profiles or platforms: those `list`
  // takes.
  const bool argument = std::ranges::any_of(command.get_options(), [&](const CLI::Option* option) {
    return option->get_positional() && std::ranges::any_of(option->results(), [&](const std::string& given) {
             return file == given || file.starts_with(given + "/") || is_scenario(file, given);
           });
  });
  std::error_code ignored;
  if (!argument && std::filesystem::is_directory(file, ignored)) return message;  // to be written; the message says so
  const std::string hint = what_it_is(argument ? name : "list", file);
  return hint.empty() ? message : fmt::format("{}; {}", message, hint);
}

}  // namespace loco::cli
