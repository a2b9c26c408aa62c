// Where something was written: a position in a text, or in a file or an argument. Lines and columns count from 1,
// columns in bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace loco::text {

/// A position in a text; line 0: nowhere.
struct Mark {
  int line = 0;
  int column = 0;

  bool operator==(const Mark&) const = default;
};

/// The name of a file or an argument, stored once for all places in it.
class SourceName {
 public:
  SourceName() = default;
  SourceName(std::string name) : name_(std::make_shared<const std::string>(std::move(name))) {}
  SourceName(const char* name) : SourceName(std::string(name)) {}

  [[nodiscard]] const std::string& str() const;
  operator const std::string&() const { return str(); }

 private:
  std::shared_ptr<const std::string> name_;  // null: empty
};

/// Line 0 means that `file` names no file but an argument such as `--set topology.nodes=4`.
struct Place {
  SourceName file;
  int line = 0;
  int column = 0;

  Place() = default;
  Place(SourceName in, int at_line, int at_column) : file(std::move(in)), line(at_line), column(at_column) {}
  Place(SourceName in, Mark at) : Place(std::move(in), at.line, at.column) {}

  /// `file:line:column`, or the argument.
  [[nodiscard]] std::string text() const;
};

}  // namespace loco::text
