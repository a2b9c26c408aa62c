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

  /// The descriptors that the program of a host inherits. Throws std::system_error if a file cannot be made.
  [[nodiscard]] Standard of(std::uint32_t host);
  /// The program has been started: closes the descriptors that only it needs.
  void started(std::uint32_t host);
  /// Passes on the programs' output in whole lines; with `end` also the rest.
  void drain(bool end);
  /// Moves captured output into the result.
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
  std::vector<Stream> streams_;  ///< two per host
};

}  // namespace loco::exec
