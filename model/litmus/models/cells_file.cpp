#include "model/litmus/models/cells_file.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <vector>

#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {
namespace {

struct Part {
  std::string text;
  int column = 1;
};

class CellsReader {
 public:
  CellsReader(std::string file, ModelOptions& options) : file_(std::move(file)), options_(options) {
    for (std::size_t c = 0; c < 11; ++c) places_.push_back(c);
  }

  std::optional<RuleSet> run(std::string_view text) {
    std::string rules;
    for (line_ = 1; !text.empty(); ++line_) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      line = line.substr(0, line.find('#'));
      const std::vector<Part> parts = split(line);
      if (parts.empty()) continue;
      const std::string& first = parts.front().text;
      const std::string word = first.substr(0, first.find(','));
      if (!rules.empty() || find_rule(word) || word == "none") {
        for (const Part& p : parts) rules += (rules.empty() || rules.ends_with(',') ? "" : ",") + p.text;
        while (rules.ends_with(',')) rules.pop_back();
      } else {
        table_line(parts);
      }
    }
    if (rules.empty()) {
      if (!any_) fail({"", 1}, "rows of a stamp table, or a list of coreRMA's rules");
      return std::nullopt;
    }
    line_ = 1;
    if (any_) fail({rules, 1}, "a stamp table or a list of rules, not both");
    try {
      return parse_rules(rules);
    } catch (const std::invalid_argument& e) {
      throw std::invalid_argument(file_ + ": " + e.what());
    }
  }

 private:
  [[noreturn]] void fail(const Part& p, const std::string& expected) const {
    throw text::InputError({file_, line_, p.column}, "", expected,
                           p.text.empty() ? "nothing" : text::in_quotes(p.text));
  }
  static std::vector<Part> split(std::string_view line) {
    std::vector<Part> parts;
    bool inside = false, rule = true;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool blank = std::isspace(static_cast<unsigned char>(line[i])) != 0 || line[i] == '|';
      if (!blank && !inside) parts.push_back({"", static_cast<int>(i) + 1});
      if (!blank) parts.back().text += line[i];
      inside = !blank;
      rule = rule && (blank || line[i] == '-' || line[i] == ':');
    }
    if (rule) parts.clear();  // the line below a heading of Markdown
    return parts;
  }
  /// The number of the row A to P, or of the column 1 to 16.
  static std::optional<std::size_t> row(const std::string& s) {
    if (s.size() != 1 || s[0] < 'A' || s[0] >= 'A' + static_cast<int>(kVerbsStamps)) return std::nullopt;
    return static_cast<std::size_t>(s[0] - 'A');
  }
  static std::optional<std::size_t> column(const std::string& s) {
    const auto v = text::parse_integer(s);
    if (!v || *v < 1 || *v > static_cast<int>(kVerbsStamps)) return std::nullopt;
    return static_cast<std::size_t>(*v - 1);
  }
  static bool is_stamp(const std::string& s) {
    return std::find(kVerbsStampNames.begin(), kVerbsStampNames.end(), s) != kVerbsStampNames.end();
  }
  static bool is_cell(const std::string& s) {
    return s.size() == 1 && std::string_view("YynIi.").find(s[0]) != std::string_view::npos;
  }

  void table_line(const std::vector<Part>& parts) {
    std::size_t next = 1;
    if (next < parts.size() && is_stamp(parts[next].text)) ++next;
    const bool data = next < parts.size() && is_cell(parts[next].text) && !row(parts[next].text);
    if (!data) return heading(parts);
    const auto own = transposed_ ? column(parts.front().text) : row(parts.front().text);
    if (!own) fail(parts.front(), transposed_ ? "the number of a column, 1 to 16" : "the letter of a row, A to P");
    if (parts.size() - next != places_.size())
      fail(parts.back(), std::to_string(places_.size()) + " cells in the row, as the heading has columns (" +
                             std::to_string(parts.size() - next) + " are there)");
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const Part& p = parts[next + k];
      if (!is_cell(p.text)) fail(p, "a cell: Y, n, I, i or .");
      transposed_ ? set(places_[k], *own, p) : set(*own, places_[k], p);
    }
    any_ = true;
  }
  void heading(const std::vector<Part>& parts) {
    places_.clear();
    transposed_ = row(parts.front().text).has_value();
    for (const Part& p : parts) {
      if (is_stamp(p.text)) continue;
      const auto place = transposed_ ? row(p.text) : column(p.text);
      if (!place) fail(p, "a row of cells, or a heading: the numbers of columns, 1 to 16");
      places_.push_back(*place);
    }
  }
  void set(std::size_t r, std::size_t c, const Part& p) {
    const char cell = p.text[0] == 'y' ? 'Y' : p.text[0];
    const bool starts = cell == 'I' || cell == 'i';
    char& own = options_.verbs_order.cells[r][c];
    // In Fig. 10 cells that order starts only are told as not ordered: B1, B5, G10, I10.
    if (cell != '.' || (own != 'I' && own != 'i')) own = cell;
    if (r >= kStamps || c >= kStamps) return;
    const bool figure = (r == 1 && (c == 0 || c == 4)) || ((r == 6 || r == 8) && c == 9);
    if (starts && !figure) return;  // of model verbs only
    options_.order.cells[r][c] = cell == 'Y' ? Cell::yes : cell == 'n' ? Cell::same_node : Cell::no;
  }

  std::string file_;
  ModelOptions& options_;
  int line_ = 1;
  std::vector<std::size_t> places_;
  bool transposed_ = false;
  bool any_ = false;
};

}  // namespace

std::optional<RuleSet> read_cells(std::string_view text, const std::string& file, ModelOptions& options) {
  return CellsReader(file, options).run(text);
}

}  // namespace loco::model::litmus
