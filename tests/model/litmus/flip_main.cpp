#include <cstdio>

#include "model/litmus/parser.hpp"
#include "tests/model/litmus/corpus.hpp"
#include "tests/model/litmus/flip.hpp"

int main(int argc, char** argv) {
  namespace litmus = loco::model::litmus;
  std::vector<litmus::Program> programs;
  for (int i = 1; i < argc; ++i)
    for (litmus::Program& p : litmus::parse_file(argv[i])) programs.push_back(std::move(p));
  if (argc == 1) programs = litmus::test::corpus();
  for (const auto& flip : litmus::test::flip_all(programs)) std::printf("%s\n", litmus::test::describe(flip).c_str());
  return 0;
}
