// loco-sim: the command line. Results on stdout, everything else on stderr.
// Exit codes: 0 done and consistent, 1 a check failed or the run could not go on, 2 bad input, 3 (verify) unknown.
#include <CLI/CLI.hpp>
#include <exception>
#include <fmt/format.h>
#include <functional>
#include <new>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "loco_sim/cli/exec_options.hpp"
#include "loco_sim/cli/help.hpp"
#include "loco_sim/cli/options.hpp"
#include "loco_sim/cli/output.hpp"
#include "loco_sim/cli/outputs.hpp"
#include "loco_sim/cli/usage.hpp"
#include "sim/host_memory.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"
#include "trace/file.hpp"
#include "trace/whole_file.hpp"

namespace {

using loco::cli::Arguments;
using loco::cli::kBadInput;
using loco::cli::one_of_words;

/// Reports have several lines: each is shown as it is.
int complain(std::string_view message, int code) {
  if (code == kBadInput) {  // one line, whatever the input holds
    loco::cli::say(loco::text::printable(message) + "\n");
    return code;
  }
  std::string text;
  for (std::size_t from = 0; from <= message.size();) {
    const std::size_t end = std::min(message.find('\n', from), message.size());
    text += loco::text::printable(message.substr(from, end - from)) + "\n";
    from = end + 1;
  }
  loco::cli::say(text);
  return code;
}

/// Commands about the command line itself.
void add_help(CLI::App& app, Arguments& a, std::function<int()>& chosen) {
  CLI::App* completion = app.add_subcommand("completion", "Print the completion script of a shell");
  completion->add_option("shell", a.shell, "Which shell")->required()->check(one_of_words({"bash", "zsh", "fish"}));
  completion->callback([&] {
    chosen = [&] {
      loco::cli::print(loco::cli::completion(app, a.shell));
      return loco::cli::kDone;
    };
  });
  CLI::App* man = app.add_subcommand("man", "Print the manual page (roff)");
  man->callback([&] {
    chosen = [&] {
      loco::cli::print(loco::cli::man_page(app));
      return loco::cli::kDone;
    };
  });
  loco::cli::add_examples(app);
}

/// Bad input: when a file that was given is of another kind than the command takes, the message says which.
int complain_of_input(const CLI::App& app, const std::string& message) {
  return complain(loco::cli::with_kind_of_file(app, message), kBadInput);
}

/// Runs the command and turns every exception into one line and an exit code.
int guarded(const CLI::App& app, const std::function<int()>& command, const Arguments& a) {
  try {
    loco::cli::require_outputs_apart(app);
    return command();
  } catch (const loco::text::InputError& error) {
    return complain_of_input(app, error.what());
  } catch (const loco::trace::TraceError& error) {
    const std::string& file = a.check.trace.empty() ? a.trace_export.trace : a.check.trace;
    return complain_of_input(app, fmt::format("{}: {}", loco::text::printable(file), error.what()));
  } catch (const loco::cli::UsageError& error) {
    return complain_of_input(app, error.what());
  } catch (const std::invalid_argument& error) {
    return complain(fmt::format("loco-sim: {}", error.what()), kBadInput);
  } catch (const std::system_error& error) {
    return complain(loco::text::printable(error.what()), kBadInput);
  } catch (const std::bad_alloc&) {
    return complain("loco-sim: out of memory", loco::cli::kFailed);
  } catch (const std::exception& error) {
    return complain(fmt::format("loco-sim: {}", error.what()), loco::cli::kFailed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  loco::cli::have_standard_files();
  loco::trace::leave_nothing_on_signals();
  loco::sim::take_free_memory_only();
  CLI::App app(
      "loco-sim simulates RDMA NICs running the LOCO object library and checks every run against its memory models.",
      "loco-sim");
  app.set_version_flag("-V,--version", loco::cli::version_text(), "Print the version and how it was built");
  app.require_subcommand(1);
  Arguments arguments;
  std::function<int()> chosen;
  loco::cli::add_commands(app, arguments, chosen);
  add_help(app, arguments, chosen);
  loco::cli::refuse_empty_values(app, {"--check", "--hardware", "--model", "--replay-on", "--set"});
  loco::cli::refuse_values_of_flags(app);
  const std::vector<std::string> words =
      loco::cli::words_backwards(loco::cli::take_programs(argc, argv, arguments.exec), argv);
  try {
    app.parse(std::vector(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return complain(loco::cli::usage_text(app, error), kBadInput);
    const auto help_or_version = [&] {
      std::ostringstream text;
      const int code = app.exit(error, text, text);
      loco::cli::print(text.str());
      return code;
    };
    return guarded(app, help_or_version, arguments);
  }
  return guarded(app, chosen, arguments);
}
