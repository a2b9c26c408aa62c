#include "exec/outputs.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace loco::exec {

namespace {

void close_one(int& file) {
  if (file >= 0) close(file);
  file = -1;
}

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(file, text.data() + done, text.size() - done);
    if (wrote <= 0) return;  // nobody reads it any more
    done += static_cast<std::size_t>(wrote);
  }
}

std::string contents(int file) {
  std::string text;
  std::array<char, 4096> part{};
  off_t at = 0;
  while (true) {
    const ssize_t got = pread(file, part.data(), part.size(), at);
    if (got <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
    at += got;
  }
}

}  // namespace

Outputs::Outputs(const Options& options) : options_(options), streams_(2 * options.programs.size()) {}

Outputs::~Outputs() {
  for (Stream& s : streams_) {
    close_one(s.theirs);
    close_one(s.ours);
  }
}

Outputs::Stream& Outputs::stream(std::uint32_t host, bool error) { return streams_[2 * host + (error ? 1 : 0)]; }

Standard Outputs::of(std::uint32_t host) {
  Standard standard;
  if (host == 0) standard.in = 0;
  if (options_.output == Output::inherited) return standard;
  for (const bool error : {false, true}) {
    Stream& s = stream(host, error);
    s.to = error ? 2 : 1;
    if (options_.output == Output::files) {
      const std::string name = fmt::format("{}/{}.{}", options_.output_folder, error ? "err" : "out", host);
      s.theirs = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
      if (s.theirs < 0) throw std::system_error(errno, std::generic_category(), name);
    } else if (options_.output == Output::captured) {
      s.ours = memfd_create("loco-sim-output", MFD_CLOEXEC);
      s.theirs = s.ours < 0 ? -1 : fcntl(s.ours, F_DUPFD_CLOEXEC, 3);
      if (s.theirs >= 0) fcntl(s.theirs, F_SETFL, O_APPEND);
    } else {
      std::array<int, 2> both{};
      if (pipe2(both.data(), O_CLOEXEC) == 0) {
        s.ours = both[0];
        s.theirs = both[1];
        fcntl(s.ours, F_SETFL, O_NONBLOCK);
      }
    }
    if (s.theirs < 0) throw std::system_error(errno, std::generic_category(), "a program's output");
  }
  standard.out = stream(host, false).theirs;
  standard.err = stream(host, true).theirs;
  return standard;
}

void Outputs::started(std::uint32_t host) {
  for (const bool error : {false, true}) close_one(stream(host, error).theirs);
}

void Outputs::pass_on(Stream& s, std::uint32_t host, bool end) {
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(s.ours, part.data(), part.size())) > 0;)
    s.rest.append(part.data(), static_cast<std::size_t>(got));
  std::string out;
  std::size_t from = 0;
  for (std::size_t line = 0; (line = s.rest.find('\n', from)) != std::string::npos; from = line + 1)
    out += fmt::format("host {}: {}", host, s.rest.substr(from, line + 1 - from));
  s.rest.erase(0, from);
  if (end && !s.rest.empty()) out += fmt::format("host {}: {}\n", host, std::exchange(s.rest, ""));
  write_all(s.to, out);
}

void Outputs::drain(bool end) {
  if (options_.output != Output::prefixed) return;
  for (std::uint32_t host = 0; host < options_.programs.size(); ++host)
    for (const bool error : {false, true})
      if (Stream& s = stream(host, error); s.ours >= 0) pass_on(s, host, end);
}

void Outputs::take(Result& result) {
  if (options_.output != Output::captured) return;
  for (ProgramResult& program : result.programs) {
    program.out = contents(stream(program.host, false).ours);
    program.err = contents(stream(program.host, true).ours);
  }
}

}  // namespace loco::exec
