#include "loco_sim/scenario/data.hpp"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <system_error>

#include "sim/own_folders.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::scenario {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSuffix = ".yaml";

/// The files by name. If two have the same name, the one in the earlier directory counts.
std::map<std::string, std::string> bundled() {
  std::map<std::string, std::string> files;
  for (const std::string& directory : data_directories("scenarios")) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory, error)) {
      if (entry.path().extension() != kSuffix) continue;
      files.try_emplace(entry.path().lexically_relative(directory).replace_extension().generic_string(),
                        entry.path().string());
    }
  }
  return files;
}

}  // namespace

std::vector<std::string> data_directories(std::string_view folder) {
  std::vector<std::string> directories;
  if (const char* data = std::getenv("LOCO_SIM_DATA"); data != nullptr) directories.push_back(fs::path(data) / folder);
  const auto [program, code, prefix] = sim::own_folders();
  if (program) {
    directories.push_back(*program / folder);
    directories.push_back(program->parent_path() / "share" / "loco-sim" / folder);
  }
  if (code) directories.push_back(*code / "data" / folder);
  directories.push_back(fs::path(LOCO_SIM_SOURCE_DIR) / folder);
  if (prefix) directories.push_back(*prefix / "share" / "loco-sim" / folder);
  return directories;
}

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const auto& [name, file] : bundled()) names.push_back(name);
  return names;
}

std::string find_scenario(const std::string& path_or_name) {
  std::error_code error;
  if (fs::exists(path_or_name, error) && !fs::is_directory(path_or_name, error)) return path_or_name;
  const std::map<std::string, std::string> files = bundled();
  if (const auto found = files.find(path_or_name); found != files.end()) return found->second;
  const std::string last_word = fs::path(path_or_name).stem().string();
  std::vector<std::string> last_words;
  std::vector<std::string> alike;  // scenarios whose last component is the given name
  for (const auto& [name, file] : files) {
    last_words.push_back(fs::path(name).filename().string());
    if (last_words.back() == last_word) alike.push_back(name);
  }
  if (alike.size() == 1 && path_or_name == last_word) return files.at(alike[0]);
  throw text::InputError({path_or_name, 1, 1}, "",
                         "a readable file, or the name of a scenario (loco-sim list scenarios)", "none",
                         alike.empty() ? text::suggestion(last_word, last_words)
                                       : fmt::format("did you mean the scenario {}?", text::one_of(alike)));
}

std::string find_beside(const std::string& by, const std::string& name) {
  std::error_code ignored;
  const fs::path beside = fs::path(by).parent_path() / name;
  return fs::exists(beside, ignored) ? beside.string() : name;
}

}  // namespace loco::scenario
