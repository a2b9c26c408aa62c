#include "exec/launch.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <system_error>
#include <unistd.h>

#include "exec/protocol.hpp"
#include "exec/run.hpp"
#include "text/words.hpp"

namespace loco::exec {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw RefusedProgram(fmt::format("{}: {}", text::printable(path), why));
}

std::string in_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const path = std::getenv("PATH");
  std::string rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string folder = rest.substr(0, colon);
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    struct stat s {};
    if (stat(file.c_str(), &s) == 0 && S_ISREG(s.st_mode) && access(file.c_str(), X_OK) == 0) return file;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  refuse(name, "expected a program, found none of that name in PATH");
}

/// The interpreter of a dynamically linked program.
std::string interpreter_of(const std::string& path, std::ifstream& file, const Elf64_Ehdr& header) {
  for (std::uint16_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + std::uint64_t{i} * header.e_phentsize));
    if (!file.read(reinterpret_cast<char*>(&part), sizeof(part))) break;
    if (part.p_type != PT_INTERP || part.p_filesz == 0 || part.p_filesz > PATH_MAX) continue;
    std::string name(part.p_filesz - 1, 0);
    file.seekg(static_cast<std::streamoff>(part.p_offset));
    file.read(name.data(), static_cast<std::streamsize>(name.size()));
    return name;
  }
  refuse(path,
         "a dynamically linked program is expected, found a static one: the simulated libibverbs is put in front of "
         "shared libraries; link it without -static (Go: CGO_ENABLED=1 go build)");
}

void require_unprivileged(const std::string& path) {
  struct stat s {};
  if (stat(path.c_str(), &s) != 0) refuse(path, std::strerror(errno));
  const bool capable = getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  if ((s.st_mode & (S_ISUID | S_ISGID)) != 0 || capable)
    refuse(path,
           "an unprivileged program is expected, found setuid, setgid or file capabilities: the loader drops "
           "preloaded libraries there");
}

void require_conductible(const std::string& path, int depth) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) refuse(path, "expected a program, found no such file");
  if (access(path.c_str(), X_OK) != 0) refuse(path, "expected a program, found a file that cannot be executed");
  require_unprivileged(path);
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof(header));
  if (std::memcmp(header.e_ident, "#!", 2) == 0 && depth == 0) {
    file.clear();
    file.seekg(2);
    std::string interpreter;
    file >> interpreter;
    return require_conductible(interpreter, depth + 1);
  }
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) refuse(path, "expected an ELF program, found another file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
    refuse(path, "expected a program for x86-64, found one for another architecture");
  const std::string interpreter = interpreter_of(path, file, header);
  if (interpreter.find("ld-linux-x86-64") == std::string::npos)
    refuse(path, fmt::format("expected a program for the GNU C library, found one for {}", interpreter));
}

/// The user's environment, with additions of the program and of the shim.
std::vector<std::string> environment_of(const ProgramSpec& program, const std::string& shim_folder, int channel) {
  std::vector<std::string> out;
  const auto set = [&out](const std::string& name, const std::string& value) {
    std::erase_if(out, [&](const std::string& entry) { return entry.starts_with(name + "="); });
    out.push_back(name + "=" + value);
  };
  const auto value_of = [&out](const std::string& name) -> std::string {
    for (const std::string& entry : out)
      if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
    return "";
  };
  for (char** entry = environ; *entry != nullptr; ++entry) out.emplace_back(*entry);
  for (const auto& [name, value] : program.environment) set(name, value);
  const auto in_front = [&](const std::string& name, const std::string& value) {
    const std::string before = value_of(name);
    set(name, before.empty() ? value : value + ":" + before);
  };
  // After the user's own preloads, such as librspreload.so: they keep what they replace, and their calls then reach the
  // shim.
  const std::string shim = shim_folder + "/libibverbs.so.1";
  const std::string preloaded = value_of("LD_PRELOAD");
  set("LD_PRELOAD", preloaded.empty() ? shim : preloaded + ":" + shim);
  in_front("LD_LIBRARY_PATH", shim_folder);
  in_front("PATH", shim_folder);  // its ssh
  set(kChannelVariable, fmt::format("{}", channel));
  if (value_of("PYTHONHASHSEED").empty()) set("PYTHONHASHSEED", "0");  // else Python takes the kernel's random bytes
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

/// Runs after fork, so it makes only async-signal-safe calls.
[[noreturn]] void become(const char* path, char* const* arguments, char* const* environment, const Standard& standard,
                         pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent has ended already
  personality(ADDR_NO_RANDOMIZE);       // the position of buffers changes what PCIe does
  const int in = standard.in >= 0 ? standard.in : open("/dev/null", O_RDONLY);
  if (in != 0) dup2(in, 0);
  if (standard.out >= 0) dup2(standard.out, 1);
  if (standard.err >= 0) dup2(standard.err, 2);
  execve(path, arguments, environment);
  _exit(127);
}

}  // namespace

std::string find_program(const std::string& name) {
  const std::string path = in_path(name);
  require_conductible(path, 0);
  return path;
}

pid_t launch(const std::string& path, const ProgramSpec& program, const std::string& shim_folder, int channel,
             const Standard& standard) {
  std::vector<std::string> arguments = program.command;
  std::vector<std::string> environment = environment_of(program, shim_folder, channel);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "starting " + path);
  if (child == 0) become(path.c_str(), argv.data(), envp.data(), standard, parent);
  return child;
}

}  // namespace loco::exec
