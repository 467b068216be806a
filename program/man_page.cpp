#include <fmt/format.h>

#include <sstream>

#include "deploy/local/topology.hpp"
#include "program/completion.hpp"
#include "workloads/jobs.hpp"

namespace lockmark::cli {
namespace {

std::string bold(std::string_view text) {
  return fmt::format("\\fB{}\\fR", roff_text(text));
}

std::string italic(std::string_view text) {
  return fmt::format("\\fI{}\\fR", roff_text(text));
}

// A term with its description below it.
std::string entry(const std::string& term, const std::string& meaning) {
  return fmt::format(".TP\n{}\n{}\n", term, meaning.empty() ? "\\&" : meaning);
}

std::string section(std::string_view name) {
  return fmt::format(".SH {}\n", roff_text(name));
}

std::string paragraph(std::string_view text) {
  return fmt::format(".PP\n{}\n", roff_text(text));
}

// The placeholder of an option's value: its name, or all allowed values.
std::string value_of(const described_option& o) {
  if (o.value.empty()) return "";
  std::string choices;
  for (const std::string& a : o.allowed) {
    choices += fmt::format("{}{}", choices.empty() ? "" : "|", bold(a));
  }
  return choices.empty() ? italic(o.value) : choices;
}

std::string in_synopsis(const described_option& o) {
  std::string text = o.names.empty() ? value_of(o) : bold(o.names.back());
  if (!o.names.empty() && !o.value.empty()) text += fmt::format(" {}", value_of(o));
  if (!o.required) text = fmt::format("[{}]", text);
  return o.repeats ? fmt::format("{}...\\&", text) : text;
}

std::string synopsis(const command_line& c, const described_command& command) {
  std::string text = fmt::format(".PP\n{} {}", bold(c.name), bold(command.name));
  // Positional arguments first, as people write them.
  for (const bool places : {true, false}) {
    for (const described_option& o : command.options) {
      const bool help = !o.names.empty() && o.names.back() == "--help";
      if (o.names.empty() == places && !help) text += fmt::format("\n{}", in_synopsis(o));
    }
  }
  return fmt::format("{}\n", text);
}

std::string option_entry(const described_option& o) {
  std::string term;
  for (const std::string& name : o.names) {
    term += fmt::format("{}{}", term.empty() ? "" : ", ", bold(name));
  }
  if (!o.value.empty()) {
    term += fmt::format("{}{}", term.empty() ? "" : " ", value_of(o));
  }
  std::string meaning = roff_text(o.help);
  if (!o.preset.empty()) meaning += fmt::format(" (default: {})", roff_text(o.preset));
  return entry(term, meaning);
}

std::string commands(const command_line& c) {
  std::string text = section("COMMANDS");
  for (const described_command& command : c.commands) {
    text += fmt::format(".SS {} {}\n", roff_text(c.name), roff_text(command.name));
    text += fmt::format("{}\n", roff_text(command.help));
    for (const described_option& o : command.options) text += option_entry(o);
  }
  return text;
}

std::string keys(const command_line& c) {
  std::string text = section("KEYS OF A JOB");
  text += paragraph(
      "A job is a YAML file, or one of those that lockmark carries. --set KEY=VALUE overrides a "
      "key. Unknown keys are errors.");
  for (const described_key& k : c.keys) {
    const std::string preset = k.preset.empty() ? "" : fmt::format(" = {}", roff_text(k.preset));
    const std::string allowed = k.allowed.empty() ? "" : fmt::format("{}: ", roff_text(k.allowed));
    text += entry(fmt::format("{}{}", bold(k.name), preset),
                  fmt::format("{}{}", allowed, roff_text(k.help)));
  }
  return text;
}

// The first sentence of a job's opening comment states its purpose.
std::string idea_of(std::string_view yaml) {
  std::istringstream lines{std::string(yaml)};
  std::string text;
  for (std::string line; std::getline(lines, line) && line.starts_with("# ");) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", line.substr(2));
    const auto end = text.find_first_of("?.");
    if (end != text.npos) return text.substr(0, end + 1);
  }
  return text;
}

std::string names_section(const catalogue& known) {
  std::string text = section("SHIPPED JOBS");
  for (const auto& [name, yaml] : workloads::shipped_jobs()) {
    text += entry(bold(name), roff_text(idea_of(yaml)));
  }
  text += section("LOCKS");
  for (const lock_kind& lock : known.locks()) {
    text += entry(bold(lock.name), fmt::format("{}; runs on {}", roff_text(lock.summary),
                                               roff_text(lock.topologies)));
  }
  text += section("WORKLOADS");
  for (const workload_kind& w : known.workloads())
    text += entry(bold(w.name), roff_text(w.summary));
  text += section("LOCAL TOPOLOGIES");
  text += paragraph("With --on local:NAME lockmark starts them itself.");
  for (const local::topology& t : local::topologies()) {
    text += entry(bold(t.name), roff_text(t.summary));
  }
  return text;
}

std::string exit_status(const command_line& c) {
  return fmt::format("{}{}", section("EXIT STATUS"), paragraph(c.footer));
}

constexpr const char* what_no_option_says = R"--(.SH ENVIRONMENT
.TP
\fBNO_COLOR\fR
if set and not empty, nothing is coloured
.TP
\fBTERM\fR
if \fBdumb\fR or not set, progress is a plain line a second
.TP
\fBXDG_RUNTIME_DIR\fR
where what \fBlockmark up\fR has started is written down
.SH FILES
A run leaves a folder:
.TP
\fIjob.yaml\fR
the job with every default written out
.TP
\fIrun.json\fR
verdict, counts, quantiles, cost, provenance
.TP
\fIlatency.hlog\fR
HdrHistogram log, in nanoseconds
.TP
\fItimeline.jsonl\fR
one JSON object per half second
.TP
\fIhistory.edn\fR
with \fB\-\-history\fR: every acquire and release, for Jepsen\(aqs checkers
.PP
A name that ends in \fI.part\fR is what a run left that was killed.
.SH EXAMPLES
.PP
.nf
lockmark run contended \-\-on memory:
lockmark run contended \-\-on redis://127.0.0.1:6379 \-\-set lock=redis/lua
lockmark table \-\-quick \-\-junit junit.xml
lockmark report \-\-format md runs/*\-contended
.fi
)--";

}  // namespace

std::string man_page(const command_line& c, const catalogue& known, const std::string& version) {
  std::string text = fmt::format(".\\\" `{} man` has made it.\n", c.name);
  text += fmt::format(".TH LOCKMARK 1 \"\" \"{} {}\" \"User Commands\"\n.nh\n.ad l\n",
                      roff_text(c.name), roff_text(version));
  text += section("NAME");
  text += fmt::format("{} \\- benchmark distributed locks on real clusters\n", roff_text(c.name));
  text += section("SYNOPSIS");
  for (const described_command& command : c.commands) text += synopsis(c, command);
  text += section("DESCRIPTION");
  text += fmt::format("{}\n", roff_text(c.summary));
  text += commands(c);
  text += section("OPTIONS");
  for (const described_option& o : c.options) text += option_entry(o);
  text += keys(c);
  text += names_section(known);
  text += exit_status(c);
  return text + what_no_option_says;
}

std::string roff_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    const bool begins = safe.empty() || safe.back() == '\n';
    switch (c) {
      case '\\': safe += "\\e"; break;
      case '-': safe += "\\-"; break;
      case '"': safe += "\\(dq"; break;
      case '\'': safe += "\\(aq"; break;
      case '`': safe += "\\(ga"; break;
      case '^': safe += "\\(ha"; break;
      case '~': safe += "\\(ti"; break;
      case '.': safe += begins ? "\\&." : "."; break;
      case '\n': safe += begins ? "" : "\n"; break;
      default: safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return safe;
}

}  // namespace lockmark::cli
