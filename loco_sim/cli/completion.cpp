// Completion scripts: which words may come next after which command. Files complete wherever a word is not an option.
#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "loco_sim/cli/help.hpp"
#include "loco_sim/cli/tree.hpp"
#include "loco_sim/scenario/data.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "loco_sim/scenario/scenario.hpp"
#include "nic_model/profile_options.hpp"

namespace loco::cli {

namespace {

std::vector<std::string> words_of(const CommandInfo& command) {
  std::vector<std::string> words;
  for (const CommandInfo& below : command.commands) words.push_back(below.name);
  for (const OptionInfo& option : command.options) {
    words.insert(words.end(), option.names.begin(), option.names.end());
    if (!option.names.empty()) continue;
    words.insert(words.end(), option.choices.begin(), option.choices.end());
    words.insert(words.end(), option.known.begin(), option.known.end());
  }
  return words;
}

// --- what there is ---------------------------------------------------------------------------------------------------

std::vector<std::string> profile_keys(const std::string& prefix) {
  std::vector<std::string> keys;
  for (const auto& option : nic::profile_options()) keys.push_back(prefix + std::string(option.key) + "=");
  return keys;
}

/// Of a scenario, whatever its workload.
std::vector<std::string> scenario_keys() {
  std::set<std::string> keys;
  for (const std::string& kind : scenario::workload_kinds())
    scenario::for_each(scenario::scenario_table(kind),
                       [&](const std::string& path, const auto&) { keys.insert(path + "="); });
  for (const std::string& key : profile_keys("hardware.")) keys.insert(key);
  keys.insert("hardware=");
  return {keys.begin(), keys.end()};
}

/// Scenarios, profiles and keys, as they are where the script is printed.
void add_known(CommandInfo& command) {
  const bool of_scenario = std::ranges::any_of(command.options, [](const OptionInfo& o) {
    return o.names.empty() && (o.name == "scenario" || o.name == "result");
  });
  for (OptionInfo& option : command.options) {
    const auto has = [&](const char* name) { return std::ranges::find(option.names, name) != option.names.end(); };
    if (option.names.empty() && of_scenario) option.known = scenario::scenario_names();
    if (has("--hardware") || has("--replay-on")) option.known = scenario::hardware_names();
    if (has("--set")) option.known = of_scenario ? scenario_keys() : profile_keys("");
  }
  for (CommandInfo& below : command.commands) add_known(below);
}

bool are_keys(const OptionInfo& option) { return !option.known.empty() && option.known.front().ends_with('='); }

/// `visit` for each command below the program, outer ones first.
template <class Visit>
void each(const CommandInfo& command, Visit visit) {
  for (const CommandInfo& below : command.commands) {
    visit(below);
    each(below, visit);
  }
}

std::string without_quotes(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos;) text.replace(at, 1, "");
  return text;
}

// --- bash ------------------------------------------------------------------------------------------------------------

std::string bash(const CommandInfo& tree) {
  std::string paths;
  std::string words = fmt::format("    '') words='{}' ;;\n", fmt::join(words_of(tree), " "));
  std::string values;
  each(tree, [&](const CommandInfo& command) {
    paths += fmt::format("{}'{}'", paths.empty() ? "" : " | ", command.path);
    words += fmt::format("    '{}') words='{}' ;;\n", command.path, fmt::join(words_of(command), " "));
    for (const OptionInfo& option : command.options) {
      const std::vector<std::string>& all = option.choices.empty() ? option.known : option.choices;
      if (option.names.empty() || all.empty()) continue;
      const char* files = are_keys(option)         ? "files=; compopt -o nospace"
                          : option.choices.empty() ? "files=1"
                                                   : "files=";
      for (const std::string& name : option.names)
        values += fmt::format("    '{} {}') words='{}' {} ;;\n", command.path, name, fmt::join(all, " "), files);
    }
  });
  return fmt::format(R"(# bash completion of loco-sim
_loco_sim() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} path= words= files=1 i next
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="${{path:+$path }}${{COMP_WORDS[i]}}"
    case $next in
      {}) path=$next ;;
    esac
  done
  case $path in
{}  esac
  case "$path $before" in
{}    *) ;;
  esac
  [[ $cur != -* && -n $path ]] || files=
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"; [[ -z $files ]] || compgen -f -- "$cur")
}}
complete -o filenames -F _loco_sim loco-sim
)",
                     paths, words, values);
}

// --- zsh -------------------------------------------------------------------------------------------------------------

/// `text` inside of an _arguments specification: brackets and colons mean something there.
std::string zsh_text(std::string text) {
  text = without_quotes(std::move(text));
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_known(const OptionInfo& option) {
  if (are_keys(option)) return fmt::format("{{compadd -S \"\" -- {}}}", fmt::join(option.known, " "));
  return fmt::format("{{compadd -- {}; _files}}", fmt::join(option.known, " "));
}

std::string zsh_options(const CommandInfo& command) {
  std::string out;
  std::string rest = "_files";
  for (const OptionInfo& option : command.options) {
    for (const std::string& name : option.names) {
      const std::string value =
          option.value.empty()
              ? ""
              : fmt::format(":{}:{}", zsh_text(option.value),
                            !option.known.empty()    ? zsh_known(option)
                            : option.choices.empty() ? std::string("_files")
                                                     : fmt::format("({})", fmt::join(option.choices, " ")));
      out += fmt::format(" '{}[{}]{}'", name, zsh_text(option.description), value);
    }
    if (option.names.empty() && !option.known.empty()) rest = zsh_known(option);
    if (option.names.empty() && !option.choices.empty())
      out += fmt::format(" ':{}:({})'", option.name, fmt::join(option.choices, " "));
  }
  return out + fmt::format(" '*:file:{}'", rest);
}

std::string zsh_commands(const CommandInfo& command) {
  std::string commands;
  std::string cases;
  for (const CommandInfo& below : command.commands) {
    commands += fmt::format(" '{}:{}'", below.name, zsh_text(below.description));
    cases += fmt::format("      {}) {} ;;\n", below.name,
                         below.commands.empty() ? "_arguments" + zsh_options(below) : "_loco_sim_" + below.name);
  }
  std::string out;
  for (const CommandInfo& below : command.commands) {
    if (!below.commands.empty()) out += zsh_commands(below);
  }
  return out + fmt::format(R"(_loco_sim_{}() {{
  local context state line
  local -a commands=({})
  _arguments -C '1: :->command' '*:: :->rest'
  case $state in
    command) _describe command commands ;;
    rest) case $line[1] in
{}    esac ;;
  esac
}}
)",
                           command.path.empty() ? "main" : command.name, commands, cases);
}

// --- fish ------------------------------------------------------------------------------------------------------------

std::string fish(const CommandInfo& tree) {
  std::string out = "# fish completion of loco-sim\n";
  for (const CommandInfo& command : tree.commands) {
    out += fmt::format("complete -c loco-sim -n __fish_use_subcommand -f -a {} -d '{}'\n", command.name,
                       without_quotes(command.description));
  }
  each(tree, [&](const CommandInfo& command) {
    const std::string seen = fmt::format("'__fish_seen_subcommand_from {}'", command.name);
    for (const CommandInfo& below : command.commands) {
      out += fmt::format("complete -c loco-sim -n {} -f -a {} -d '{}'\n", seen, below.name,
                         without_quotes(below.description));
    }
    for (const OptionInfo& option : command.options) {
      std::string line = fmt::format("complete -c loco-sim -n {}", seen);
      for (const std::string& name : option.names) {
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (option.names.empty() && !option.choices.empty()) line += " -f";
      if (!option.value.empty() && !option.names.empty()) line += option.choices.empty() ? " -r" : " -x";
      const std::vector<std::string>& all = option.choices.empty() ? option.known : option.choices;
      if (!all.empty()) line += fmt::format(" -a '{}'", fmt::join(all, " "));
      if (option.names.empty() && all.empty()) continue;
      out += line + fmt::format(" -d '{}'\n", without_quotes(option.description));
    }
  });
  return out;
}

}  // namespace

std::string completion(const CLI::App& app, const std::string& shell) {
  CommandInfo tree = describe(app);
  add_known(tree);
  if (shell == "bash") return bash(tree);
  if (shell == "zsh") return "#compdef loco-sim\n" + zsh_commands(tree) + "_loco_sim_main \"$@\"\n";
  return fish(tree);
}

}  // namespace loco::cli
