#include "loco_sim/cli/outputs.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "loco_sim/scenario/data.hpp"
#include "loco_sim/scenario/hardware.hpp"
#include "text/input_error.hpp"

namespace loco::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kWritten = {"--trace", "--pcap", "--out", "--dot", "--page", "--certificate"};
constexpr std::array<std::string_view, 6> kRead = {"--hardware",   "--rows",   "--replay-on",
                                                   "--predicates", "--replay", "--check-certificate"};
constexpr std::array<std::string_view, 2> kProfiles = {"--hardware", "--replay-on"};

struct Named {
  std::string option;  ///< or the name of a positional
  fs::path file;
};

/// A file itself, or that of the scenario which has the name.
fs::path file_named(const std::string& argument, const std::string& word) {
  std::error_code ignored;
  if (argument != "scenario" || fs::exists(word, ignored)) return word;
  try {
    return scenario::find_scenario(word);
  } catch (const text::InputError&) {
    return word;  // told by who reads it
  }
}

/// Devices and pipes may be read and written at a time. Two new files are one when their names say so.
bool is_same(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (fs::exists(a, error) && fs::exists(b, error)) return fs::is_regular_file(a, error) && fs::equivalent(a, b, error);
  return !fs::exists(a, error) && fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error);
}

/// Is it a document of a folder whose documents are read?
bool is_document_in(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  const bool document = file.extension() == ".yaml" || file.extension() == ".yml";
  return document && fs::is_directory(folder, error) && fs::is_regular_file(file, error) &&
         fs::equivalent(file.parent_path().empty() ? "." : file.parent_path(), folder, error);
}

/// All files that are read for an argument: the file, and those that it names. Errors in them are left to their
/// readers.
std::vector<std::string> files_of(const std::string& argument, const std::string& word) {
  std::vector<std::string> files;
  try {
    if (std::ranges::find(kProfiles, argument) != kProfiles.end()) return scenario::load_hardware(word).files;
    files.push_back(file_named(argument, word).string());
    if (argument == "scenario")
      for (const scenario::InputFile& input : scenario::load_scenario(word).inputs) files.push_back(input.file);
  } catch (const std::exception&) {
    return files.empty() ? std::vector{word} : files;
  }
  return files;
}

template <std::size_t N>
bool is_one_of(const std::string& name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

void require_outputs_apart(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  std::vector<Named> words;
  std::vector<Named> written;
  for (const CLI::Option* option : command->get_options()) {
    const std::string name = option->get_positional() ? option->get_name(true) : option->get_name();
    for (const std::string& word : option->results()) {
      if (word.empty() || word == "-" || word.find('\0') != std::string::npos) continue;
      if (is_one_of(name, kWritten)) written.push_back({name, word});
      if (option->get_positional() || is_one_of(name, kRead)) words.push_back({name, word});
    }
  }
  if (written.empty()) return;
  std::vector<Named> read;
  for (const Named& word : words)
    for (const std::string& file : files_of(word.option, word.file.string())) read.push_back({word.option, file});
  const auto refuse = [](const Named& file, const std::string& found) {
    throw text::InputError({file.file.string(), 0, 0}, "", "another file to write", found);
  };
  for (std::size_t i = 0; i < written.size(); ++i) {
    for (const Named& r : read)
      if (is_same(written[i].file, r.file) || is_document_in(written[i].file, r.file))
        refuse(written[i], fmt::format("one that the command reads ({})", r.option));
    for (std::size_t j = 0; j < i; ++j)
      if (is_same(written[i].file, written[j].file))
        refuse(written[i], fmt::format("the one of {}", written[j].option));
  }
}

void require_apart(const std::string& written, const text::Place& said, const std::string& key,
                   const std::vector<scenario::InputFile>& inputs) {
  for (const scenario::InputFile& input : inputs) {
    if (!is_same(written, input.file)) continue;
    const bool in_scenario = said.line > 0;
    throw text::InputError(in_scenario ? said : text::Place{written, 0, 0}, in_scenario ? key : "",
                           "another file to write", fmt::format("one that the command reads ({})", input.key));
  }
}

}  // namespace loco::cli
