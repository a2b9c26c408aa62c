// Keywords of a call as the rows of a command (options/command.hpp) have them.
#pragma once

#include <span>
#include <string>

#include "loco_sim/commands/rows.hpp"
#include "pybind/bindings.hpp"

namespace loco::python {

/// Puts the values into `owner`. None leaves a member without default unchanged. Throws loco_sim's InputError, which is
/// a TypeError, too, where a value is of another type: `CALL: keyword: expected E, found F`.
void take(const std::string& call, std::span<const options::Row> rows, void* owner, const py::dict& given);

/// (keyword, default or None, expected values, meaning, names on the command line) of each row that has a keyword.
[[nodiscard]] py::list described(std::span<const options::Row> rows, void* defaults);

/// A command as a call of that name gives it.
template <class Command>
Command taken(const std::string& call, const py::dict& given) {
  Command command;
  take(call, commands::rows<Command>(), &command, given);
  return command;
}

template <class Command>
py::list described() {
  Command defaults;
  return described(commands::rows<Command>(), &defaults);
}

}  // namespace loco::python
