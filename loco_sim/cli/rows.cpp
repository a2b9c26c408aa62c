#include "loco_sim/cli/rows.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "loco_sim/cli/usage.hpp"
#include "text/words.hpp"

namespace loco::cli {

namespace {

using options::Row;
using Words = std::vector<std::string>;

/// The first that is a word: `--tx-depth`.
std::string name_of(const Row& row) {
  const std::size_t dashes = row.names.find("--");
  return std::string(dashes == std::string_view::npos ? row.names
                                                      : row.names.substr(dashes, row.names.find(',', dashes) - dashes));
}

CLI::Option* add_value(CLI::App& command, const Row& row, void* owner) {
  const auto take = [&row, owner](const CLI::results_t& words) {
    for (const std::string& word : words) {
      if (assign(row, owner, word, row.unit)) continue;
      throw CLI::ValidationError(
          name_of(row), fmt::format("expected {}, found {}", expectation(row, row.unit), text::in_quotes(word)));
    }
    return true;
  };
  CLI::Option* const option = command.add_option(std::string(row.names), take, std::string(row.doc));
  option->type_name(std::string(row.value));
  if (is_list(row.slot(owner))) option->expected(CLI::detail::expected_max_vector_size);
  if (row.one_a_time) option->allow_extra_args(false);
  if (row.kind == options::Kind::size && is_list(row.slot(owner))) option->delimiter(',');
  if (!row.choices.empty()) option->check(one_of_words(Words(row.choices.begin(), row.choices.end())));
  if (row.shows_default) option->default_str(held(row, owner, row.unit));
  return option;
}

}  // namespace

void add_rows(CLI::App& command, std::span<const Row> rows, void* owner) {
  for (const Row& row : rows) {
    if (row.names.empty()) continue;
    CLI::Option* const option =
        row.kind == options::Kind::flag
            ? command.add_flag(std::string(row.names), *std::get<bool*>(row.slot(owner)), std::string(row.doc))
            : add_value(command, row, owner);
    if (row.required) option->required();
  }
  for (const Row& row : rows)
    if (!row.needs.empty())
      command.get_option(std::string(row.names))->needs(command.get_option(std::string(row.needs)));
}

std::string option_name(std::span<const Row> rows, std::string_view keyword) {
  const auto row = std::ranges::find(rows, keyword, &Row::keyword);
  return row == rows.end() ? std::string() : name_of(*row);
}

}  // namespace loco::cli
