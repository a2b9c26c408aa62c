// Several threads of a node that run the same code and end together.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "loco_sim/loco/transport.hpp"
#include "sim/fiber.hpp"

namespace loco::workloads {

/// Runs body(0) on the calling thread and body(1), ..., body(threads - 1) on threads of their own. Returns when all
/// have ended. An error in one of them ends the program; until then the caller's stack, which the others use, exists.
template <typename Body>
void run_team(Transport& node, std::uint32_t threads, const Body& body) {
  const owned_flag ended(node);
  for (std::uint32_t t = 1; t < threads; ++t)
    node.spawn("worker" + std::to_string(t), [&node, &body, ended = Flag{ended}, t] {
      body(t);
      node.flag_fetch_add(ended, 1);
    });
  try {
    body(0);
  } catch (const sim::FiberCancelled&) {
    throw;
  } catch (...) {
    node.spawn("main", [error = std::current_exception()] { std::rethrow_exception(error); });
    while (true) node.pause();
  }
  while (node.flag_load(ended) + 1 < threads) node.pause();
}

}  // namespace loco::workloads
