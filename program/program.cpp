#include "program/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <utility>

#include "deploy/local/error.hpp"
#include "harness/base/process.hpp"
#include "harness/base/redact.hpp"
#include "harness/config/option.hpp"
#include "harness/config/redaction.hpp"
#include "harness/config/settings.hpp"
#include "harness/driver.hpp"
#include "harness/faults/proxy/serve.hpp"
#include "harness/run/build_info.hpp"
#include "program/about.hpp"
#include "program/commands.hpp"
#include "program/participants.hpp"

namespace lockmark::cli {
namespace {

struct row {
  const char* name;
  const char* help;
  command_action (*declare)(CLI::App&, const context&);
};

constexpr row commands[] = {
    {"try", "a tour: a lock is broken before your eyes, and then held", try_command},
    {"list", "locks, their features, and the topologies they run on", list_command},
    {"run", "run one job", run_command},
    {"job", "list the jobs, show one, or explain what it does", job_command},
    {"agent", "carry a part of the load of a lockmark elsewhere", agent_command},
    {"invitation", "make an invitation for agents ahead of their coordinator", invitation_command},
    {"merge", "make a run of what agents kept of it", merge_command},
    {"table", "run every lock and print the comparison table", table_command},
    {"report", "print what run folders hold", report_command},
    {"capacity", "find a lock's maximum sustainable load, and plan for it", capacity_command},
    {"gate", "detect regressions: compare two servers, locks or lockmarks", gate_command},
    {"faults", "break servers, clients and networks, and see what each lock does", faults_command},
    {"claims", "test common claims about distributed locks", claims_command},
    {"doctor", "look at servers as a run does before its load", doctor_command},
    {"up", "start local servers and leave them running", up_command},
    {"down", "stop local servers that `up` started", down_command},
    {"status", "show local servers that `up` started", status_command},
    {"completion", "print a completion script for a shell", completion_command},
    {"help", "explain a command, or a concept such as hand-off", help_command},
    {"man", "print the manual page: lockmark man | man -l -", man_command},
};

// The words of the command line with secrets redacted.
std::vector<std::string> redacted(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  std::ranges::transform(words, std::back_inserter(all), config::redacted_argument);
  return all;
}

// `ps` shows this very memory for this process and its forks.
void hide_secrets(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    const std::string shown = config::redacted_argument(text);
    if (shown == text) continue;
    const auto same = std::ranges::mismatch(text, shown).in1 - text.begin();
    std::fill(argv[i] + same, argv[i] + text.size(), '*');
  }
}

int fail(const std::string& sentence) {
  fmt::print(stderr, "lockmark: {}\n", without_logins(sentence));
  return 2;
}

// The command that the words name, if any.
const row* command_of(const std::vector<std::string>& words) {
  if (words.size() < 2) return nullptr;
  const auto* const found = std::ranges::find(commands, words[1], &row::name);
  return found == std::end(commands) ? nullptr : found;
}

// lockmark help [COMMAND], and lockmark alone, show what --help does; lockmark help TOPIC is a
// command.
std::vector<std::string> with_help_as_option(std::vector<std::string> words) {
  if (words.size() == 1) words.emplace_back("--help");
  if (words.size() == 2 && words[1] == "help") words[1] = "--help";
  if (words[1] == "help" && command_of({words[0], words[2]}) != nullptr) {
    words.erase(words.begin() + 1);
    words.emplace_back("--help");
  }
  return words;
}

// A word that should be a command and is none.
int fail_unknown(const std::string& word) {
  std::vector<std::string> known;
  for (const row& r : commands) known.emplace_back(r.name);
  return fail(fmt::format("'{}' is not a command; did you mean {}? See lockmark --help",
                          config::redacted_argument(word), config::nearest_name(word, known)));
}

// For parser errors, which quote unexpected words.
int fail_to_parse(std::string sentence, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (const auto shown = config::redacted_argument(word); shown != word) {
      const auto at = sentence.find(word);
      if (at != sentence.npos) sentence.replace(at, word.size(), shown);
    }
  }
  const row* const command = command_of(words);
  return fail(fmt::format("{}; see lockmark {}{}--help", sentence,
                          command == nullptr ? "" : command->name, command == nullptr ? "" : " "));
}

int run(const std::vector<std::string>& given) {
  const std::vector<std::string> words = with_help_as_option(given);
  if (!words[1].starts_with('-') && command_of(words) == nullptr) return fail_unknown(words[1]);
  CLI::App app{"Benchmarks distributed locks on real clusters, and checks that they are locks.",
               "lockmark"};
  app.require_subcommand(1);
  bool verbose = false;
  CLI::Option* const with_all =
      app.add_flag("--verbose", verbose, "with --version: the revision and the libraries, too");
  with_all->needs(app.set_version_flag(
      "--version", [&verbose] { return verbose ? about() : lockmark::run::this_build().version; }));
  app.footer(
      "Exit status of run, table and capacity: 0 held; 1 the lock failed; 2 wrong usage or no\n"
      "server; 3 inconclusive or INVALID. The others: see their --help.\n"
      "Concepts: lockmark help closed-loop, hand-off, bounds, safety or exit-status.\n"
      "A first look, on a Redis that lockmark starts itself:\n"
      "  lockmark run contended --on local:redis");
  const catalogue known;
  const context c{known, redacted(words)};
  int status = 2;
  for (const row& r : commands) {
    CLI::App* const sub = app.add_subcommand(r.name, r.help);
    sub->footer("");  // not the program's, whose exit status is that of a run
    sub->final_callback([&status, action = r.declare(*sub, c)] { status = action(); });
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
  } catch (const CLI::ExtrasError&) {
    return fail_to_parse(fmt::format("not expected: {}", fmt::join(app.remaining(true), " ")),
                         words);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    return fail_to_parse(e.what(), words);
  }
  return status;
}

}  // namespace

int run_program(int argc, char** argv) {
  try {
    const std::vector<std::string> words(argv, argv + argc);
    hide_secrets(argc, argv);
    // Reaching the file size limit (ulimit -f) then fails like a full disk: with a sentence.
    std::signal(SIGXFSZ, SIG_IGN);
    raise_descriptor_limit();
    // Internal commands, which appear in no help.
    if (words.size() == 2 && words[1] == "participant") return be_participant(catalogue());
    if (words.size() == 2 && words[1] == "proxy") {
      return faults::serve_proxies(STDIN_FILENO, STDOUT_FILENO);
    }
    return run(words);
  } catch (const local::start_error& e) {
    if (!e.log().empty()) fmt::print(stderr, "{}\n", e.log());
    return fail(e.what());
  } catch (const std::exception& e) {
    // usage_error, no_server, config_error, write_error and library exceptions: sentences.
    return fail(e.what());
  }
}

}  // namespace lockmark::cli
