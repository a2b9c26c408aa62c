#include "loco_sim/workloads/flows/table_lines.hpp"

#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::workloads::flows {

namespace {
constexpr std::string_view kBlanks = " \t\r";

TableLine parted(std::string_view line, const text::SourceName& file, int number, char separator) {
  TableLine out{.whole = std::string(line), .fields = {}};
  std::size_t at = 0;
  while (at <= line.size()) {
    const std::size_t end = std::min(line.find(separator, at), line.size());
    std::string_view field = line.substr(at, end - at);
    const std::size_t blanks = std::min(field.find_first_not_of(kBlanks), field.size());
    field.remove_prefix(blanks);
    field = field.substr(0, field.find_last_not_of(kBlanks) + 1);
    if (!field.empty() || separator != ' ')
      out.fields.push_back({std::string(field), {file, number, static_cast<int>(at + blanks) + 1}});
    at = end + 1;
  }
  return out;
}
}  // namespace

std::vector<TableLine> table_lines(const std::string& text, const std::string& file, char separator) {
  const text::SourceName name(file);
  std::vector<TableLine> lines;
  int number = 0;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t first = line.find_first_not_of(kBlanks);
    if (first == std::string_view::npos || line[first] == '#') continue;
    lines.push_back(parted(line, name, number + 1, separator));
  }
  return lines;
}

std::uint64_t number_of(const Field& field, const std::string& what, std::uint64_t most) {
  const std::optional<std::int64_t> number = text::parse_integer(field.text);
  if (!number || *number < 0 || static_cast<std::uint64_t>(*number) > most)
    throw text::InputError(field.place, what, "a whole number from 0 to " + std::to_string(most),
                           field.text.empty() ? "nothing" : text::in_quotes(field.text));
  return static_cast<std::uint64_t>(*number);
}

}  // namespace loco::workloads::flows
