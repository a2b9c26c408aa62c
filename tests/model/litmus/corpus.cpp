#include "tests/model/litmus/corpus.hpp"

#include <algorithm>
#include <filesystem>

#include "model/litmus/language/parser.hpp"

namespace loco::model::litmus::test {

std::string corpus_folder() { return LITMUS_CORPUS; }

std::vector<std::string> corpus_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(LITMUS_CORPUS))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Program> corpus() {
  std::vector<Program> programs;
  for (const std::string& f : corpus_files())
    for (Program& p : parse_file(f)) programs.push_back(std::move(p));
  return programs;
}

}  // namespace loco::model::litmus::test
