// A remote shell between simulated hosts: `ssh nodeN COMMAND` goes on as COMMAND, on host N (Request::move).
//
// It is in front of the machine's own in programs' PATH, for launchers of parallel programs (mpirun's plm_rsh_agent).
// Its standard input and output are those of who has started it.
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <unistd.h>

namespace {

constexpr int kRefused = 255;  // as ssh(1) has it

/// Options that take a value of their own (ssh(1)).
bool takes_value(const char* option) {
  return std::strlen(option) == 2 && std::strchr("BbcDEeFIiJLlmOopQRSWw", option[1]) != nullptr;
}

int refuse(const char* why, const char* what) {
  std::fprintf(stderr, "ssh of loco-sim exec: %s, found %s\n", why, what);
  return kRefused;
}

}  // namespace

int main(int argc, char** argv) {
  using Move = int (*)(unsigned);
  auto* const move = reinterpret_cast<Move>(dlsym(RTLD_DEFAULT, "loco_sim_move"));
  if (move == nullptr) return refuse("expected to be started by a program of loco-sim exec", "none");
  int at = 1;
  while (at < argc && argv[at][0] == '-') at += takes_value(argv[at]) ? 2 : 1;
  if (at >= argc) return refuse("expected a host, node0, node1, ...", "none");
  const char* const user = std::strchr(argv[at], '@');
  const char* const name = user == nullptr ? argv[at] : user + 1;
  unsigned host = 0;
  char more = 0;
  if (std::sscanf(name, "node%u%c", &host, &more) != 1) return refuse("expected a host, node0, node1, ...", name);
  std::string command;
  for (int i = at + 1; i < argc; ++i) command += (command.empty() ? "" : " ") + std::string(argv[i]);
  if (command.empty()) return refuse("expected a command", "none");
  if (const int error = move(host); error != 0) return refuse("expected a host of this run", std::strerror(error));
  // bash forks, dash starts its commands by vfork, whose children nobody conducts
  for (const char* shell : {"/bin/bash", "/bin/sh"}) execl(shell, "sh", "-c", command.c_str(), nullptr);
  return refuse("expected a shell", std::strerror(errno));
}
