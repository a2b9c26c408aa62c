// The client programs of a library that bounded soundness compares, and those that it need not compare.
//
// A client is skipped only if another one covers it: whenever the implementation shows the skipped client something
// that the specification forbids, it does so to the other one, too, which is smaller, or as large and earlier in the
// order of enumeration. The argument for each rule is at its function in clients.cpp; docs/models.md tells it in short.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loco::model::litmus {

/// A call that clients may make. In its text `R` stands for a register of its own, `V` for a value of its own.
struct ClientCall {
  enum class Kind : std::uint8_t { other, read, write, transfer, wait, global_fence, fence };

  std::string text;
  bool of_library = true;
  bool reads = false;  ///< into a register
  Kind kind = Kind::other;
  std::vector<int> from{}, to{};  ///< the copies of locations that it reads and writes, by a number of their own
  bool waited = false;            ///< a transfer that `wait(d)` waits for
};

/// Per thread, indices of its calls in the alphabet.
using Client = std::vector<std::vector<int>>;

/// The parts of a library's clients: the document around the threads, and the calls that a thread may make.
struct ClientAlphabet {
  std::string head;
  std::vector<int> nodes;  ///< of the threads
  std::vector<std::vector<ClientCall>> calls;
  bool round = true;       ///< turning the threads round (and nodes and locations with them) gives an equivalent client
  bool alike = false;      ///< so does any other way to exchange threads: call i of one is call i of the other
  bool tuples = false;     ///< reads may fail, at any time and without effect on anything else
  bool described = false;  ///< kind, from, to are given for every call
  bool flushes = false;    ///< a NIC read pushes NIC writes of its thread (nfo)
  /// Renamings of locations or values: the call that takes the place of each, kNone if the alphabet has none.
  std::vector<std::vector<int>> renamings;
};

[[nodiscard]] ClientAlphabet rdmawait_clients(int threads);
[[nodiscard]] ClientAlphabet sv_clients(int threads);
[[nodiscard]] ClientAlphabet bal_clients(int threads, bool transitive);
[[nodiscard]] ClientAlphabet rbl_clients(int threads);
[[nodiscard]] ClientAlphabet msw_clients(int threads, bool guards);

/// Has this thread, whatever the others do, calls without any effect? Without them it is a smaller client.
[[nodiscard]] bool idle_thread(const ClientAlphabet& alphabet, int thread, const std::vector<int>& calls);
/// Is the client covered by a smaller one, or by an equivalent one that comes earlier?
[[nodiscard]] bool covered(const ClientAlphabet& alphabet, const Client& client);

}  // namespace loco::model::litmus
