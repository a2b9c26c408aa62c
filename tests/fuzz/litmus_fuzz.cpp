// libFuzzer target: no bytes make the litmus parser, or the engine on what it accepts, crash, hang or allocate
// without bound.
//
// Two ways in: as a whole document, and as the code of one thread, so that damage reaches the statement parser.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/litmus/answers/litmus.hpp"
#include "text/input_error.hpp"

namespace {

using namespace loco::model::litmus;

void run(const std::string& text) {
  try {
    for (const Program& p : parse_text(text, "fuzz")) {
      Options options;
      options.executions_max = 50;
      options.loop_bound = 1;
      std::size_t instructions = 0;
      for (const Thread& t : p.threads) instructions += t.code.size();
      if (instructions > 12) continue;  // enumeration is exponential by nature
      (void)to_herd_text(p, enumerate(p, options));
    }
  } catch (const loco::text::InputError& e) {
    if (e.place().line < 1 || e.place().column < 1) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  run(bytes);
  std::string code;
  for (const char c : bytes) {
    if (c == '\n')
      code += "\n      ";
    else if (static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f)
      code += c;
  }
  run("name: f\nlocations: {x: {node: 1}, y: {node: 1, init: 1}, z: {node: 2}, m: {node: 1}, s: {shared: true}}\n"
      "barriers: {b: [0]}\nringbuffers: {q: {writer: 0, readers: [0]}}\nthreads:\n  - node: 1\n    code: |\n      " +
      code + "\n");
  return 0;
}
