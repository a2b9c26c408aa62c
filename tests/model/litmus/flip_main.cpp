// flip_cells [FILE...]: which litmus tests notice when a cell of the stamp order is flipped.
#include <cstdio>
#include <exception>
#include <string_view>

#include "model/litmus/language/parser.hpp"
#include "tests/model/litmus/corpus.hpp"
#include "tests/model/litmus/flip.hpp"
#include "text/shown.hpp"

namespace {

namespace litmus = loco::model::litmus;

constexpr const char* kHelp =
    "Usage: flip_cells [FILE...]\n"
    "Flips each cell of the stamp order in turn and lists the litmus tests that notice; the tests of the tree, or "
    "those\n"
    "of the files.\n"
    "Example: flip_cells tests/litmus/loco-paper.yaml\n";

void run(int argc, char** argv) {
  std::vector<litmus::Program> programs;
  for (int i = 1; i < argc; ++i)
    for (litmus::Program& p : litmus::parse_file(argv[i])) programs.push_back(std::move(p));
  if (argc == 1) programs = litmus::test::corpus();
  for (const auto& flip : litmus::test::flip_all(programs)) std::printf("%s\n", litmus::test::describe(flip).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "-h" || word == "--help") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (word.starts_with('-')) {
      std::fprintf(stderr, "flip_cells: expected a file, or --help, found \"%s\"\n", loco::text::shown(word).c_str());
      return 2;
    }
  }
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", loco::text::shown(error.what()).c_str());
    return 2;
  }
  return 0;
}
