// Small rdmatso / rdmawait programs (models page, sections 2 and 3) for tests: parsed, run on the NIC model, and run
// on the operational rdmatso machine.
//
// A program is a list of threads with statements over locations that each have a home node. `wait(d)` is compiled to
// in-order polls, as the paper's implementation of rdmawait does (LOCO paper, Appendix G).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "nic_model/profile.hpp"

namespace loco::test {

enum class Do : std::uint8_t { write, read, put, get, poll, wait, rfence, mfence, cas };

struct Statement {
  Do what = Do::mfence;
  int location = 0;         // write, read, cas; put: destination; get: destination
  int other = 0;            // put, get: source
  int reg = -1;             // read, cas: result; write: the value when >= 0
  std::uint64_t value = 0;  // write; cas: expected
  std::uint64_t desired = 0;
  int node = 0;   // poll, rfence
  int id = 0;     // put, get, wait: the `d`; 0 is none
  int words = 1;  // put, get: of so many locations that were declared one behind the other
};

struct Location {
  std::string name;
  int node = 0;
  std::uint64_t initial = 0;
};

struct ThreadCode {
  int node = 0;
  std::vector<Statement> code;
};

/// Named values: the registers, and the final value of every location that `final` lists.
using Outcome = std::map<std::string, std::uint64_t>;
using Outcomes = std::set<Outcome>;
[[nodiscard]] std::string text(const Outcome& outcome);
[[nodiscard]] std::string text(const Outcomes& outcomes);

struct Program {
  std::vector<Location> locations;
  std::vector<ThreadCode> threads;
  std::vector<std::string> registers;
  std::vector<std::string> final;  // names of locations

  /// Declares a location; nodes count from 1.
  Program& location(const std::string& name, int node, std::uint64_t initial = 0);
  /// Adds a thread; statements are separated by ';', syntax of the litmus format.
  Program& thread(int node, const std::string& code);
  Program& observe(const std::string& location);
  [[nodiscard]] int nodes() const;
  [[nodiscard]] std::string text() const;
};

/// A program with random statements; the same for the same seed. `wide`: puts and gets may be of two words.
[[nodiscard]] Program random_program(std::uint64_t seed, bool wide = false);

/// Every outcome of the operational rdmatso machine (models page, section 3). No waits: polls only.
[[nodiscard]] Outcomes explore_operational(const Program& program);

/// Outcomes seen in `runs` runs on the NIC model, each with any pending event as the next one.
[[nodiscard]] Outcomes sample_hardware(const Program& program, const nic::HardwareProfile& profile, std::uint64_t seed,
                                       int runs);

}  // namespace loco::test
