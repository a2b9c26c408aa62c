#include "program.hpp"

#include <algorithm>
#include <cctype>
#include <random>
#include <sstream>
#include <stdexcept>

namespace loco::test {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  std::istringstream in(text);
  while (std::getline(in, part, separator)) {
    const auto begin = part.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    parts.push_back(part.substr(begin, part.find_last_not_of(' ') - begin + 1));
  }
  return parts;
}

bool is_number(const std::string& s) { return !s.empty() && std::isdigit(static_cast<unsigned char>(s[0])) != 0; }

struct Parser {
  Program& program;
  ThreadCode& thread;
  std::map<std::string, int> ids{};

  int find(const std::string& name) {
    for (std::size_t i = 0; i < program.locations.size(); ++i) {
      if (program.locations[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }
  int reg(const std::string& name) {
    program.registers.push_back(name);
    return static_cast<int>(program.registers.size() - 1);
  }
  int source(const std::string& text) {  // a constant stands for a fresh local location that holds it
    if (!is_number(text)) return find(text);
    program.location("$" + std::to_string(program.locations.size()), thread.node, std::stoull(text));
    return static_cast<int>(program.locations.size() - 1);
  }
  int id(const std::string& name) { return ids.emplace(name, static_cast<int>(ids.size()) + 1).first->second; }

  void call(const std::string& name, const std::vector<std::string>& args, const std::string& as) {
    Statement s;
    if (!as.empty()) s.id = id(as);
    if (name == "put" || name == "get") {
      s.what = name == "put" ? Do::put : Do::get;
      s.location = find(args.at(0));
      s.other = source(args.at(1));
      if (args.size() > 2) s.words = std::stoi(args.at(2));
    } else if (name == "poll" || name == "rfence") {
      s.what = name == "poll" ? Do::poll : Do::rfence;
      s.node = std::stoi(args.at(0));
    } else if (name == "wait") {
      s.what = Do::wait;
      s.id = id(args.at(0));
    } else {
      throw std::invalid_argument("no such call: " + name);
    }
    thread.code.push_back(s);
  }

  void assign(const std::string& left, const std::string& right) {
    const int to = find(left);
    const auto paren = right.find('(');
    if (paren != std::string::npos) {  // r = cas(x, a, b)
      const auto args = split(right.substr(paren + 1, right.find(')') - paren - 1), ',');
      thread.code.push_back({.what = Do::cas,
                             .location = find(args.at(0)),
                             .reg = reg(left),
                             .value = std::stoull(args.at(1)),
                             .desired = std::stoull(args.at(2))});
    } else if (to >= 0 && is_number(right)) {
      thread.code.push_back({.what = Do::write, .location = to, .value = std::stoull(right)});
    } else if (to >= 0) {  // x = y: read, then write; or a register
      int from = find(right);
      if (from >= 0) {
        thread.code.push_back({.what = Do::read, .location = from, .reg = reg("$" + left)});
        from = static_cast<int>(program.registers.size() - 1);
      } else {
        from = static_cast<int>(std::find(program.registers.begin(), program.registers.end(), right) -
                                program.registers.begin());
      }
      thread.code.push_back({.what = Do::write, .location = to, .reg = from});
    } else {
      thread.code.push_back({.what = Do::read, .location = find(right), .reg = reg(left)});
    }
  }

  void statement(const std::string& text) {
    if (text == "mfence") {
      thread.code.push_back({.what = Do::mfence});
      return;
    }
    const auto equals = text.find('=');
    if (equals != std::string::npos) {
      assign(split(text.substr(0, equals), ' ').at(0), split(text.substr(equals + 1), '\n').at(0));
      return;
    }
    const auto open = text.find('(');
    const auto close = text.find(')');
    const auto as = text.find(" as ");
    call(text.substr(0, open), split(text.substr(open + 1, close - open - 1), ','),
         as == std::string::npos ? "" : split(text.substr(as + 4), ' ').at(0));
  }
};

}  // namespace

std::string text(const Outcome& outcome) {
  std::string out;
  for (const auto& [name, value] : outcome) out += " " + name + "=" + std::to_string(value);
  return out;
}

std::string text(const Outcomes& outcomes) {
  std::string out;
  for (const Outcome& outcome : outcomes) out += text(outcome) + "\n";
  return out;
}

Program& Program::location(const std::string& name, int node, std::uint64_t initial) {
  locations.push_back({name, node, initial});
  return *this;
}

Program& Program::thread(int node, const std::string& code) {
  ThreadCode t{.node = node, .code = {}};
  Parser parser{*this, t};
  for (const std::string& line : split(code, ';')) parser.statement(line);
  threads.push_back(std::move(t));
  return *this;
}

Program& Program::observe(const std::string& name) {
  final.push_back(name);
  return *this;
}

int Program::nodes() const {
  int most = 0;
  for (const Location& l : locations) most = std::max(most, l.node);
  for (const ThreadCode& t : threads) most = std::max(most, t.node);
  return most;
}

std::string Program::text() const {
  std::ostringstream out;
  for (const Location& l : locations) out << l.name << "@" << l.node << "=" << l.initial << " ";
  const auto at = [this](int i) { return locations[static_cast<std::size_t>(i)].name; };
  for (const ThreadCode& t : threads) {
    out << "\n  node " << t.node << ":";
    for (const Statement& s : t.code) {
      switch (s.what) {
        case Do::write:
          out << " " << at(s.location) << " = "
              << (s.reg >= 0 ? registers[static_cast<std::size_t>(s.reg)] : std::to_string(s.value));
          break;
        case Do::read:
          out << " " << registers[static_cast<std::size_t>(s.reg)] << " = " << at(s.location);
          break;
        case Do::put:
          out << " put(" << at(s.location) << ", " << at(s.other) << ", " << s.words << ")";
          break;
        case Do::get:
          out << " get(" << at(s.location) << ", " << at(s.other) << ", " << s.words << ")";
          break;
        case Do::poll:
          out << " poll(" << s.node << ")";
          break;
        case Do::wait:
          out << " wait(d" << s.id << ")";
          break;
        case Do::rfence:
          out << " rfence(" << s.node << ")";
          break;
        case Do::mfence:
          out << " mfence";
          break;
        case Do::cas:
          out << " " << registers[static_cast<std::size_t>(s.reg)] << " = cas(" << at(s.location) << ", " << s.value
              << ", " << s.desired << ")";
          break;
      }
      out << ";";
    }
  }
  return out.str();
}

Program random_program(std::uint64_t seed, bool wide) {
  std::mt19937_64 random(seed);  // its sequence is fixed by the standard
  const auto below = [&random](std::uint64_t n) { return static_cast<int>(random() % n); };
  Program p;
  for (int node = 1; node <= 2; ++node) {
    p.location("x" + std::to_string(node), node, static_cast<std::uint64_t>(2 * node - 1));
    p.location("y" + std::to_string(node), node, static_cast<std::uint64_t>(2 * node));
    p.observe("x" + std::to_string(node)).observe("y" + std::to_string(node));
  }
  const int threads = 2;
  const int statements = wide ? 4 : 5 + below(3);
  std::uint64_t value = 5;  // every value in the program is different, so that outcomes tell much
  for (int t = 0; t < threads; ++t) {
    ThreadCode thread{.node = t == 0 ? 1 : 1 + below(2), .code = {}};
    const int mine = 2 * (thread.node - 1);
    const int theirs = 2 * (2 - thread.node);
    int operations = 0;
    for (int i = 0; i < statements / threads + (t == 0 ? statements % threads : 0); ++i) {
      switch (below(10)) {
        case 0:
        case 1:
          thread.code.push_back({.what = Do::write, .location = mine + below(2), .value = value++});
          break;
        case 2:
        case 3:
          p.registers.push_back("r" + std::to_string(p.registers.size()));
          thread.code.push_back(
              {.what = Do::read, .location = mine + below(2), .reg = static_cast<int>(p.registers.size()) - 1});
          break;
        case 4:
        case 5:
          thread.code.push_back({.what = Do::put, .location = theirs + below(2), .other = mine + below(2)});
          ++operations;
          break;
        case 6:
        case 7:
          thread.code.push_back({.what = Do::get, .location = mine + below(2), .other = theirs + below(2)});
          ++operations;
          break;
        case 8:
          if (operations > 0) {
            thread.code.push_back({.what = Do::poll, .node = 3 - thread.node});
            --operations;
            break;
          }
          [[fallthrough]];
        default:
          thread.code.push_back({.what = below(2) == 0 ? Do::rfence : Do::mfence, .node = 3 - thread.node});
          break;
      }
    }
    p.threads.push_back(thread);
  }
  if (!wide) return p;
  for (ThreadCode& thread : p.threads) {
    for (Statement& s : thread.code) {
      if ((s.what != Do::put && s.what != Do::get) || below(4) == 0) continue;
      s.words = 2;
      s.location -= s.location % 2;
      s.other -= s.other % 2;
    }
  }
  return p;
}

}  // namespace loco::test
