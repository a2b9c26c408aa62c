#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>

#include "loco_sim/workloads/flows/flow_files.hpp"
#include "loco_sim/workloads/flows/table_lines.hpp"
#include "options/units.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::workloads::flows {

namespace {

constexpr std::uint64_t kCsvBytesMost = std::uint64_t{1} << 30U;
constexpr std::uint64_t kCsvIdMost = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kClassMost = 7;

enum Column : std::uint8_t { kSource, kDestination, kBytes, kStart, kId, kClass, kAfter, kDelay, kColumns };
constexpr std::array<std::string_view, kColumns> kNames = {"source", "destination", "bytes", "start",
                                                           "id",     "class",       "after", "delay"};

using Columns = std::array<std::optional<std::size_t>, kColumns>;

Columns read_head(const TableLine& line) {
  Columns columns;
  for (std::size_t i = 0; i < line.fields.size(); ++i) {
    const Field& field = line.fields[i];
    const auto name = std::ranges::find(kNames, field.text);
    if (name == kNames.end())
      throw text::InputError(field.place, "", "source, destination, bytes, start, id, class, after or delay",
                             text::in_quotes(field.text),
                             text::suggestion(field.text, std::vector<std::string>(kNames.begin(), kNames.end())));
    auto& column = columns.at(static_cast<std::size_t>(name - kNames.begin()));
    if (column) throw text::InputError(field.place, field.text, "each column once", "it twice");
    column = i;
  }
  for (const Column needed : {kSource, kDestination, kBytes})
    if (!columns.at(needed))
      throw text::InputError(line.place(), "", "a column " + std::string(kNames.at(needed)), "none");
  if (!columns[kStart] && !columns[kAfter])
    throw text::InputError(line.place(), "", "a column start or after", "neither");
  return columns;
}

std::int64_t time_of(const Field& field, const std::string& what) {
  const std::optional<std::int64_t> plain = text::parse_integer(field.text);
  const std::optional<std::int64_t> time = plain ? plain : options::parse_quantity(field.text, options::Type::duration);
  if (!time || *time < 0)
    throw text::InputError(field.place, what, "picoseconds, or a time such as 50ns",
                           field.text.empty() ? "nothing" : text::in_quotes(field.text));
  return *time;
}

NodeId host_of(const Field& field, const std::string& what, std::uint32_t nodes) {
  const std::optional<std::int64_t> host = text::parse_integer(field.text);
  if (!host || *host < 0 || *host >= nodes)
    throw text::InputError(field.place, what, "a host from 0 to " + std::to_string(nodes - 1),
                           field.text.empty() ? "nothing" : text::in_quotes(field.text));
  return static_cast<NodeId>(*host);
}

std::uint64_t size_of(const Field& field) {
  const std::optional<std::int64_t> size = options::parse_quantity(field.text, options::Type::size);
  if (!size || *size < 1 || static_cast<std::uint64_t>(*size) > kCsvBytesMost)
    throw text::InputError(field.place, "bytes", "a size from 1B to 1GiB",
                           field.text.empty() ? "nothing" : text::in_quotes(field.text));
  return static_cast<std::uint64_t>(*size);
}

struct Awaited {
  std::uint32_t flow = 0;
  Field after;
};

class CsvReader {
 public:
  CsvReader(const Columns& columns, std::uint32_t nodes) : columns_(columns), nodes_(nodes) {}

  void add(const TableLine& line) {
    const auto field = [&](Column column) -> const Field* {
      const auto& at = columns_.at(column);
      return at && !line.fields[*at].text.empty() ? &line.fields[*at] : nullptr;
    };
    const auto need = [&](Column column) -> const Field& { return line.fields[*columns_.at(column)]; };
    Flow flow;
    flow.source = host_of(need(kSource), "source", nodes_);
    flow.destination = host_of(need(kDestination), "destination", nodes_);
    if (flow.source == flow.destination)
      throw text::InputError(need(kDestination).place, "destination", "another host than the source",
                             std::to_string(flow.source));
    flow.bytes = size_of(need(kBytes));
    flow.id = list_.flows.size() + 1;
    if (const Field* id = field(kId)) flow.id = number_of(*id, "id", kCsvIdMost);
    if (const Field* own = field(kClass))
      flow.traffic_class = static_cast<std::uint8_t>(number_of(*own, "class", kClassMost));
    const auto index = static_cast<std::uint32_t>(list_.flows.size());
    if (!by_id_.emplace(flow.id, index).second)
      throw text::InputError(field(kId) != nullptr ? field(kId)->place : line.place(), "id", "another id for each flow",
                             std::to_string(flow.id));
    const Field* const after = field(kAfter);
    const Field* const start = field(kStart);
    if (after != nullptr && start != nullptr)
      throw text::InputError(start->place, "start", "nothing beside after", text::in_quotes(start->text));
    if (after == nullptr && start == nullptr)
      throw text::InputError(line.place(), "start", "a time, or flows in after", "nothing");
    flow.start_ps = after != nullptr ? kTriggered : time_of(*start, "start");
    if (const Field* delay = field(kDelay)) {
      if (after == nullptr) throw text::InputError(delay->place, "delay", "flows in after with it", "none");
      flow.delay_ps = time_of(*delay, "delay");
    }
    if (after != nullptr) awaited_.push_back({index, *after});
    list_.flows.push_back(flow);
  }

  FlowList take() {
    for (const Awaited& a : awaited_) add_trigger(a);
    std::ranges::stable_sort(list_.fires, {}, &Fire::flow);
    return std::move(list_);
  }

 private:
  void add_trigger(const Awaited& a) {
    std::vector<std::uint32_t> flows;
    for (std::size_t at = 0; at <= a.after.text.size();) {
      const std::size_t end = std::min(a.after.text.find(';', at), a.after.text.size());
      const Field id{a.after.text.substr(at, end - at),
                     {a.after.place.file, a.after.place.line, a.after.place.column + static_cast<int>(at)}};
      const auto known = by_id_.find(number_of(id, "after", kCsvIdMost));
      if (known == by_id_.end())
        throw text::InputError(id.place, "after", "the id of a flow", text::in_quotes(id.text));
      if (std::ranges::find(flows, known->second) == flows.end()) flows.push_back(known->second);
      at = end + 1;
    }
    const auto trigger = static_cast<std::uint32_t>(list_.triggers.size());
    list_.triggers.push_back({.kind = TriggerKind::barrier,
                              .count = static_cast<std::uint32_t>(flows.size()),
                              .id = list_.flows[a.flow].id,
                              .starts = {a.flow}});
    for (const std::uint32_t f : flows) list_.fires.push_back({f, trigger, End::received});
  }

  Columns columns_;
  std::uint32_t nodes_;
  FlowList list_;
  std::map<std::uint64_t, std::uint32_t> by_id_;
  std::vector<Awaited> awaited_;
};

}  // namespace

FlowList read_flow_csv(const std::string& text, const std::string& file, std::uint32_t nodes) {
  const std::vector<TableLine> lines = table_lines(text, file, ',');
  if (lines.empty()) throw text::InputError({file, 1, 1}, "", "a line source,destination,bytes,start", "nothing");
  const std::size_t width = lines.front().fields.size();
  CsvReader reader(read_head(lines.front()), nodes);
  for (const TableLine& line : std::span(lines).subspan(1)) {
    if (line.fields.size() != width)
      throw text::InputError(line.place(), "", text::counted(width, "field"), std::to_string(line.fields.size()));
    reader.add(line);
  }
  FlowList list = reader.take();
  if (list.flows.empty()) throw text::InputError({file, 1, 1}, "", "flows below the first line", "none");
  if (const std::string stuck = never_begins(list); !stuck.empty())
    throw text::InputError({file, 1, 1}, "after", "flows that can begin", stuck);
  return list;
}

}  // namespace loco::workloads::flows
