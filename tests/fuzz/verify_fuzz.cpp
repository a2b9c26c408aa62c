// libFuzzer target: no bytes make the parser of RMA programs, or a short search of what it accepts, crash, hang or
// allocate without bound.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "text/input_error.hpp"
#include "verify/explicit_engine.hpp"
#include "verify/parser.hpp"

namespace {

using namespace loco::verify;

void run(const std::string& text) {
  try {
    const Program program = parse(text, "fuzz");
    std::size_t edges = 0;
    for (const Process& process : program.processes) edges += process.edges.size();
    if (edges > 60) return;
    Limits limits;
    limits.memory_bytes = 1U << 20U;
    limits.pending = 2;
    limits.shortest = false;
    limits.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    (void)explicit_engine(500)->check({program, all_flushes(program), static_cast<Network>(text.size() % 4), limits});
  } catch (const loco::text::InputError& e) {
    if (e.place().line < 1 || e.place().column < 1) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  run(bytes);
  // As the code of a process as well, so that damage reaches the statements.
  run("process 1 { shared X = 0, Y = 1; local u, v; " + bytes +
      "\n}\nprocess 2 { shared Z = 0; A: put(X, 1, Z); }\nassert final (u == 0 || !at(2, A));\nassert always (X < "
      "3);\n");
  return 0;
}
