// loco-sim new: a project of one's own, from the template in examples/template.
#include <array>
#include <climits>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "loco_sim/cli/commands.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/scenario/data.hpp"
#include "sim/own_folders.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::array kFiles = {"CMakeLists.txt", "README.md", "loco_program.cpp", "verbs_program.cpp"};

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw std::system_error(errno, std::generic_category(), file.string());
  return text.str();
}

/// Are the libraries there that the file of targets names? Of a build tree it is there before they are.
bool is_built(const fs::path& package) {
  const std::string targets = read(package / "loco_sim-targets.cmake");
  constexpr std::string_view kLocation = "IMPORTED_LOCATION";
  for (std::size_t at = 0; (at = targets.find(kLocation, at)) != std::string::npos; ++at) {
    const std::size_t begin = targets.find('"', at);
    const std::size_t end = targets.find('"', begin + 1);
    if (end == std::string::npos) return true;
    const fs::path library = targets.substr(begin + 1, end - begin - 1);
    if (std::error_code ignored; library.is_absolute() && !fs::exists(library, ignored)) return false;
  }
  return true;
}

/// The folder in which find_package(loco_sim) finds this version: where the program is installed, or its build tree.
fs::path package_prefix() {
  if (const auto program = sim::own_folders().program) {
    for (const char* libraries : {"lib", "lib64"}) {
      std::error_code ignored;
      const fs::path prefix = program->parent_path();
      const fs::path package = prefix / libraries / "cmake/loco_sim";
      if (fs::exists(package / "loco_sim-config.cmake", ignored) && is_built(package)) return prefix;
    }
  }
  throw UsageError(
      "loco-sim new: expected the C++ package beside this program (./dev install, or ./dev loco-sim new, in the "
      "source tree), found none");
}

fs::path template_folder() {
  for (const std::string& folder : scenario::data_directories("examples/template")) {
    std::error_code ignored;
    if (fs::exists(fs::path(folder) / kFiles[0], ignored)) return folder;
  }
  throw UsageError("loco-sim new: expected the folder examples/template of the source tree, found none");
}

/// A name that CMake takes for a project.
std::string project_name(const fs::path& folder) {
  std::string name = fs::absolute(folder / "").parent_path().filename().string();
  for (char& c : name) {
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (!good) c = '_';
  }
  return name.empty() ? "project" : name;
}

std::string replaced(std::string text, std::string_view word, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
    text.replace(at, word.size(), by);
  return text;
}

/// Makes the project's folder and those above it, and removes the folders that it made unless the project is kept.
class NewFolder {
 public:
  explicit NewFolder(const std::string& folder) : folder_(folder) {
    std::error_code error;
    for (fs::path at = fs::absolute(folder_); !fs::exists(at, error) && !error; at = at.parent_path()) first_made_ = at;
    if (!error) fs::create_directories(folder_, error);
    if (!error) return;
    remove();
    throw std::runtime_error(fmt::format("{}: {}", text::printable(folder), error.message()));
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder() {
    if (!kept_) remove();
  }
  void keep() { kept_ = true; }

 private:
  void remove() const {
    std::error_code ignored;
    for (const char* file : kFiles) fs::remove(folder_ / file, ignored);
    if (!first_made_.empty()) fs::remove_all(first_made_, ignored);
  }

  fs::path folder_;
  fs::path first_made_;  ///< empty: the folder was there
  bool kept_ = false;
};

}  // namespace

int new_command(const std::string& folder) {
  const fs::path prefix = package_prefix();
  const fs::path from = template_folder();
  std::error_code error;
  const fs::file_type there = fs::symlink_status(folder, error).type();
  if (there != fs::file_type::not_found && there != fs::file_type::none &&
      !(fs::is_directory(folder, error) && fs::is_empty(folder, error)))
    throw UsageError(fmt::format("loco-sim new: expected a folder that is not there yet, or empty, found \"{}\"",
                                 text::printable(folder)));
  for (const fs::path& part : fs::path(folder))
    if (part.string().size() > NAME_MAX || folder.size() >= PATH_MAX)
      throw UsageError(
          fmt::format("loco-sim new: expected a name of at most {} bytes in a path of at most {}, found a longer one",
                      NAME_MAX, PATH_MAX - 1));
  const std::string name = project_name(folder);
  NewFolder made(folder);
  for (const char* file : kFiles) {
    const std::string text = replaced(replaced(read(from / file), "@NAME@", name), "@PREFIX@", prefix.string());
    write_file((fs::path(folder) / file).string(), text);
  }
  made.keep();
  const std::string shown = text::printable(folder);
  print(fmt::format("{}: {}\nbuild it: cmake -S {} -B {}/build && cmake --build {}/build\n", shown,
                    fmt::join(kFiles, ", "), shown, shown, shown));
  return kDone;
}

}  // namespace loco::cli
