// The programs' standard output and error.
#pragma once

#include "exec/launch.hpp"
#include "exec/options.hpp"

namespace loco::exec {

/// Files or pipes of a run's programs; closed with it.
class Outputs {
 public:
  explicit Outputs(const Options& options);
  ~Outputs();
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;

  /// For the program of a host to inherit. Throws std::system_error when a file cannot be made.
  [[nodiscard]] Standard of(std::uint32_t host);
  /// The program has been started: what only it needs is closed.
  void started(std::uint32_t host);
  /// Passes on what programs have written, whole lines; at the end also what is no line.
  void drain(bool end);
  /// Into the result, where they are captured.
  void take(Result& result);

 private:
  struct Stream {
    int theirs = -1, ours = -1;
    int to = 1;
    std::string rest;
  };
  Stream& stream(std::uint32_t host, bool error);
  void pass_on(Stream& stream, std::uint32_t host, bool end);

  const Options& options_;
  std::vector<Stream> streams_;  ///< two a host
};

}  // namespace loco::exec
