// lockmark's completion scripts and manual page, checked with bash, zsh, fish and groff.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "program/test_program.hpp"

namespace lockmark::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;
using completions = std::vector<std::string>;

completions lines_of(const std::string& text) {
  completions lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

class self_description : public testing::Test {
 protected:
  // A file with the output of `lockmark ARGUMENTS`.
  std::string file_of(completions arguments) const {
    const ended e = run(dir_.path(), std::move(arguments));
    EXPECT_EQ(e.status, 0) << e.err;
    EXPECT_THAT(e.out, Not(IsEmpty()));
    const auto file = dir_ / "described";
    std::ofstream(file, std::ios::binary) << e.out;
    return file.string();
  }

  // The words that bash offers for the last word of this line.
  completions bash_offers(const std::string& line) const {
    const std::string script = file_of({"completion", "bash"});
    return lines_of(output_of({"bash", "-uc",
                               "source \"$0\"; COMP_LINE=$1; COMP_POINT=${#1}; COMP_WORDS=(); "
                               "COMP_CWORD=0; COMPREPLY=(); _lockmark; "
                               "if ((${#COMPREPLY[@]})); then printf '%s\\n' \"${COMPREPLY[@]}\"; "
                               "fi",
                               script, line},
                              dir_.path()));
  }

  // The same with only the words known, broken at '=' and ':' as bash does it.
  completions bash_offers_for(const std::string& broken) const {
    const std::string script = file_of({"completion", "bash"});
    return lines_of(output_of(
        {"bash", "-uc",
         fmt::format("source \"$0\"; COMP_WORDS=({}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
                     "COMPREPLY=(); _lockmark; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
                     broken),
         script},
        dir_.path()));
  }

  scratch dir_;
};

// Commands, then the command's options, filtered by prefix.
TEST_F(self_description, bash_completes_commands_and_options) {
  EXPECT_THAT(bash_offers("lockmark "),
              IsSupersetOf({"list", "run", "table", "report", "completion", "--help"}));
  EXPECT_THAT(bash_offers("lockmark re"), ElementsAre("report"));
  EXPECT_THAT(bash_offers("lockmark run contended --"),
              IsSupersetOf({"--on", "--set", "--history", "--junit"}));
  EXPECT_THAT(bash_offers("lockmark run contended --hi"), ElementsAre("--history"));
  EXPECT_THAT(bash_offers("lockmark list --history "), IsEmpty());
}

// Values: of checks, of tables of names, of keys of a job. If bash has broken a word at '=' or ':',
// only the part after it is returned; '@' is part of what is.
TEST_F(self_description, bash_completes_values) {
  EXPECT_THAT(bash_offers("lockmark report x --format "),
              IsSupersetOf({"text", "md", "json", "csv", "junit"}));
  EXPECT_THAT(bash_offers("lockmark report x --format=c"), ElementsAre("csv"));
  EXPECT_THAT(bash_offers("lockmark up redis-s"), ElementsAre("redis-sentinel"));
  EXPECT_THAT(bash_offers("lockmark job "), ElementsAre("list", "show", "explain"));
  EXPECT_THAT(bash_offers("lockmark job show "),
              AllOf(Contains("contended"), Not(Contains("list"))));
  EXPECT_THAT(bash_offers("lockmark faults holder_p"), ElementsAre("holder_paused"));
  EXPECT_THAT(bash_offers("lockmark faults holder_paused master_k"), ElementsAre("master_killed"));
  EXPECT_THAT(bash_offers("lockmark faults all --locks zookeeper/seq"),
              ElementsAre("zookeeper/sequential"));
  EXPECT_THAT(bash_offers("lockmark faults all --topologies redis-s"),
              ElementsAre("redis-sentinel"));
  EXPECT_THAT(bash_offers("lockmark claims 3"), ElementsAre("3a", "3b"));
  EXPECT_THAT(bash_offers("lockmark up redis@8"), ElementsAre("@8.0"));
  EXPECT_THAT(bash_offers("lockmark up valk"), ElementsAre("valkey@8.1", "valkey@9.1"));
  EXPECT_THAT(bash_offers("lockmark run contended --on local:valkey@9"), ElementsAre("@9.1"));
  EXPECT_THAT(bash_offers("lockmark job show unc"), ElementsAre("uncontended"));
  EXPECT_THAT(bash_offers("lockmark help hand"), ElementsAre("hand-off"));
  EXPECT_THAT(bash_offers("lockmark run unc"), ElementsAre("uncontended"));
  EXPECT_THAT(bash_offers("lockmark table --locks zookeeper/r"), ElementsAre("zookeeper/read"));
  EXPECT_THAT(bash_offers("lockmark table --scenarios contended,unc"),
              ElementsAre("contended,uncontended"));
  EXPECT_THAT(bash_offers("lockmark run contended --on mem"), ElementsAre("memory:"));
  EXPECT_THAT(bash_offers("lockmark run contended --on local:redis-c"),
              ElementsAre("redis-cluster", "redis-clusters"));
  EXPECT_THAT(bash_offers("lockmark run contended --on memory: --his"), ElementsAre("--history"));
  EXPECT_THAT(bash_offers("lockmark run contended --set load.lo"), ElementsAre("load.loop="));
  EXPECT_THAT(bash_offers("lockmark run contended --set load.loop=p"),
              ElementsAre("poisson", "partly_open"));
  EXPECT_THAT(bash_offers("lockmark run contended --set lock=redis/lu"),
              ElementsAre("redis/lua", "redis/lua_reentrant"));
  EXPECT_THAT(bash_offers("lockmark run contended --set hold=1m"), IsEmpty());
}

// Every option of every command is offered, and each of its allowed values.
TEST_F(self_description, bash_completes_what_help_says) {
  std::size_t seen = 0;
  for (const std::string& command : bash_offers("lockmark ")) {
    if (command.starts_with("-")) continue;
    std::istringstream help(run(dir_.path(), {command, "--help"}).out);
    std::set<std::string> expected;
    for (std::string word; help >> word;) {
      const bool option = word.starts_with("--") && word.size() > 3 && word[2] >= 'a';
      if (!option) continue;
      const auto end = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-");
      expected.insert(word.substr(0, end));
    }
    const completions offered = bash_offers(fmt::format("lockmark {} --", command));
    for (const std::string& option : expected) {
      EXPECT_THAT(offered, Contains(option)) << command;
    }
    seen += expected.size();
  }
  EXPECT_GT(seen, 20U);  // --help is still parsed
}

// A bash that passes only the broken words.
TEST_F(self_description, bash_joins_broken_words) {
  EXPECT_THAT(bash_offers_for("lockmark run contended --set lock = redis/lu"),
              ElementsAre("redis/lua", "redis/lua_reentrant"));
  EXPECT_THAT(bash_offers_for("lockmark run contended --on local : redis-c"),
              ElementsAre("redis-cluster", "redis-clusters"));
  EXPECT_THAT(bash_offers_for("lockmark run contended --on memory : --his"),
              ElementsAre("--history"));
  EXPECT_THAT(bash_offers_for("lockmark up redis @ 8"), ElementsAre("@8.0"));
  EXPECT_THAT(bash_offers_for("lockmark re"), ElementsAre("report"));
}

// Files and folders, where an option takes one.
TEST_F(self_description, bash_completes_files) {
  std::filesystem::create_directory(dir_ / "runs_here");
  std::ofstream(dir_ / "mine.yaml") << "";
  const std::string here = dir_.path().string();
  EXPECT_THAT(bash_offers(fmt::format("lockmark report {}/ru", here)),
              ElementsAre(fmt::format("{}/runs_here", here)));
  EXPECT_THAT(bash_offers(fmt::format("lockmark run {}/mi", here)),
              ElementsAre(fmt::format("{}/mine.yaml", here)));
}

// fish lists its completions itself; since 4.0 also those that have the letters elsewhere.
TEST_F(self_description, fish_completes) {
  const std::string script = file_of({"completion", "fish"});
  const auto offers = [&](const std::string& line) {
    completions all;
    for (const std::string& answer :
         lines_of(output_of({"fish", "--no-config", "-c",
                             fmt::format("source {}; complete -C '{}'", script, line)},
                            dir_.path()))) {
      all.push_back(answer.substr(0, answer.find('\t')));
    }
    return all;
  };
  EXPECT_THAT(offers("lockmark re"), ElementsAre("report"));
  EXPECT_THAT(offers("lockmark report x --format c"), ElementsAre("csv"));
  EXPECT_THAT(offers("lockmark run contended --hist"), ElementsAre("--history"));
  EXPECT_THAT(offers("lockmark run contended --on local:redis-i"),
              ElementsAre("local:redis-independent"));
  EXPECT_THAT(offers("lockmark run contended --set load.loop=po"),
              ElementsAre("load.loop=poisson"));
  EXPECT_THAT(offers("lockmark up redis-s"), ElementsAre("redis-sentinel"));
}

// zsh can read the script, and has completions afterwards.
TEST_F(self_description, zsh_reads_its_script) {
  const std::string script = file_of({"completion", "zsh"});
  output_of({"zsh", "-n", script}, dir_.path());
  const std::string known =
      output_of({"zsh", "-fc",
                 fmt::format("autoload -Uz compinit && compinit -D -u && source {} && "
                             "print -r -- $_comps[lockmark] && whence -w _lockmark _lockmark_lock",
                             script)},
                dir_.path());
  EXPECT_THAT(known, HasSubstr("_lockmark\n_lockmark: function\n_lockmark_lock: function"));
}

// An interactive zsh on a terminal of its own: the test waits for each reply.
TEST_F(self_description, zsh_completes) {
  std::ofstream(dir_ / "type.zsh") << R"zsh(
zmodload zsh/zpty
zpty shell "zsh -f -i"
zpty -w shell "PS1=; autoload -Uz compinit; compinit -D -u; source $1; print READY$((1+1))"
zpty -r shell seen '*READY2*'
while read -r typed wanted; do
  zpty -w -n shell "lockmark ${typed//_/ }"$'\t'
  zpty -r shell seen "*$wanted*" && print "$typed"
  zpty -w -n shell $'\C-u'
done <<END
re report
run_contended_--hi --history
run_contended_--on_local:redis-i local:redis-independent
run_contended_--set_load.loop=po load.loop=poisson
report_x_--format_c csv
table_--scenarios_contended,unc contended,uncontended
job_show_unc uncontended
faults_all_--topologies_redis-s redis-sentinel
END
zpty -d shell
)zsh";
  const std::string script = file_of({"completion", "zsh"});
  const std::string answered =
      output_of({"zsh", "-f", (dir_ / "type.zsh").string(), script}, dir_.path());
  EXPECT_EQ(lines_of(answered).size(), 8U) << answered;
}

// The manual page has no error known to groff, and documents the commands.
TEST_F(self_description, man_page_is_without_warnings) {
  const std::string page = file_of({"man"});
  const std::string text = output_of(
      {"bash", "-c", "groff -man -ww -Tutf8 -P-cbou -rLL=100n \"$0\" 2>&1", page}, dir_.path());
  EXPECT_THAT(text, Not(HasSubstr("warning")));
  EXPECT_THAT(text, Not(HasSubstr("error:")));
  for (const char* part : {"LOCKMARK(1)", "SYNOPSIS", "--history", "load.loop = closed",
                           "redis/redlock", "EXIT STATUS", "NO_COLOR", "redis-sentinel"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  // Proof that the check can fail.
  std::ofstream(page, std::ios::app) << ".nosuchrequest\n";
  EXPECT_THAT(output_of({"bash", "-c", "groff -man -ww -Tutf8 -z \"$0\" 2>&1", page}, dir_.path()),
              HasSubstr("nosuchrequest"));
}

// An unknown shell yields one error sentence.
TEST_F(self_description, refuses_other_shells) {
  const ended e = run(dir_.path(), {"completion", "tcsh"});
  EXPECT_EQ(e.status, 2);
  EXPECT_THAT(e.err, AllOf(StartsWith("lockmark: "), HasSubstr("tcsh"), HasSubstr("fish")));
}

}  // namespace
}  // namespace lockmark::cli
