#include "exec/places.hpp"

#include <array>
#include <cstdio>
#include <elf.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <sstream>

namespace loco::exec {

namespace {

bool has_fixed_addresses(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  Elf64_Ehdr header{};
  in.read(reinterpret_cast<char*>(&header), sizeof(header));
  return in && header.e_type == ET_EXEC;
}

/// Quoted for a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

CodePlace code_place(pid_t process, std::uint64_t address) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  std::string first_of;  // the file whose first mapping begins at `base`
  std::uint64_t base = 0;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, rights, offset, device, inode, file;
    words >> range >> rights >> offset >> device >> inode >> file;
    const std::size_t dash = range.find('-');
    if (dash == std::string::npos) continue;
    const std::uint64_t from = std::stoull(range.substr(0, dash), nullptr, 16);
    const std::uint64_t to = std::stoull(range.substr(dash + 1), nullptr, 16);
    if (file != first_of) {
      first_of = file;
      base = from;
    }
    if (address < from || address >= to) continue;
    return {file, has_fixed_addresses(file) ? address : address - base};
  }
  return {"", address};
}

std::string source_line(const CodePlace& place) {
  const std::string plain =
      fmt::format("{}+{:#x}", std::filesystem::path(place.file).filename().string(), place.offset);
  if (place.file.empty()) return plain;
  // `place` is a return address: the call is just before it.
  const std::string command = fmt::format("addr2line -i -e {} {:#x} 2>/dev/null", quoted(place.file), place.offset - 1);
  const std::unique_ptr<FILE, int (*)(FILE*)> out(popen(command.c_str(), "r"), pclose);
  std::array<char, 4096> line{};
  while (out && std::fgets(line.data(), line.size(), out.get()) != nullptr) {  // inlined calls come first
    std::string text(line.data());
    text = text.substr(0, text.find_first_of(" \n"));
    if (text.find("infiniband/verbs.h:") != std::string::npos) continue;  // skips the inline functions of verbs.h
    if (text.empty() || text.starts_with("??") || text.ends_with(":0") || text.ends_with(":?")) return plain;
    return std::filesystem::path(text).filename().string();
  }
  return plain;
}

std::string mistake(const Race& race) {
  const std::size_t from = race.text.find('@');
  const std::size_t to = race.text.find('@', from + 1);
  if (from == std::string::npos || to == std::string::npos) return race.text;
  return fmt::format("host {}: {}: {}{}{}", race.host, source_line(race.where), race.text.substr(0, from),
                     source_line(race.request), race.text.substr(to + 1));
}

}  // namespace loco::exec
