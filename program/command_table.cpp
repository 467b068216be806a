// lockmark table: locks side by side.
#include <memory>

#include "program/agents.hpp"
#include "program/declare.hpp"
#include "program/table_maker.hpp"

namespace lockmark::cli {

command_action table_command(CLI::App& app, const context& c) {
  const auto g = std::make_shared<table_options>();
  auto* const quick = app.add_flag("--quick", g->quick,
                                   "the usual locks, five short runs each: three minutes (the "
                                   "default)");
  app.add_flag("--full", g->full,
               "every lock on every topology, three short runs each: about three hours")
      ->excludes(quick);
  app.add_option("--repeats", g->repeats, "runs of each row; preset: 5, with --full 3")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  declare(app, "--locks", g->locks, "LOCK", "only locks that match, such as 'redis/*'");
  declare(app, "--topologies", g->topologies, "TOPOLOGY", "only topologies that match");
  app.add_option("--scenarios", g->scenarios,
                 "jobs: shipped names or files; preset: contended,one_client and, with --full, "
                 "uncontended,faults/holder_killed")
      ->type_name("JOB")
      ->delimiter(',');
  declare_load(app, g->load);
  declare_set(app, g->set, "overrides every job");
  declare_each(app, "--on", g->targets, "TARGET",
               "instead of servers started here: a URL, local:NAME or memory:; may be given more "
               "than once");
  declare(app, "--targets", g->targets_file, "FILE",
          "YAML file of your own clusters: a line `name: URL` for each");
  declare_format(app, g->format, "text, md, json or csv", {"text", "md", "json", "csv"});
  app.add_option("--lang", g->language, "language of headings and notes: en or zh")
      ->check(CLI::IsMember({"en", "zh"}))
      ->capture_default_str();
  app.add_option("--order", g->order,
                 "speed (the default of --quick), or article: by lock, as in the articles' tables "
                 "(the default of --full)")
      ->check(CLI::IsMember({"speed", "article"}));
  declare(app, "--out", g->out, "DIR",
          "table.md, table.zh.md, .csv, .json, report.html and the run folders appear in here");
  declare(app, "--resume", g->resume, "DIR",
          "goes on with the table in this folder, where it was interrupted");
  app.add_flag("--again", g->again,
               "with --resume: also makes those runs anew in which the hypervisor took too much of "
               "the machine")
      ->needs(app.get_option("--resume"));
  declare(app, "--junit", g->junit, "FILE", "also writes the verdicts as JUnit XML");
  app.add_flag("--wide", g->wide, "all columns, however wide the terminal");
  app.add_flag("--quiet", g->quiet, "nothing on stderr but errors");
  declare_watching(app, g->watched);
  declare_agents(app, g->agents);
  app.footer(
      "Exit status: that of the gravest row, in the order 1 (a lock failed), 2 (no server, wrong\n"
      "usage), 3 (inconclusive or INVALID), 0.\n"
      "Examples:\n"
      "  lockmark table\n"
      "  lockmark table --on redis://10.0.0.1:6379 --locks 'redis/*' --scenarios contended");
  return [c, g] {
    interrupts();
    if (!g->resume.empty()) g->out = g->resume;
    if (g->order.empty()) g->order = g->full ? "article" : "speed";
    const auto exporter = start_watching(g->watched);
    const auto from = gather_agents(g->agents, g->quiet);
    table_maker table(c, *g, exporter.get(), from.get());
    try {
      const int status = table.make();
      end_watching(exporter.get());
      return status;
    } catch (const std::exception& e) {
      table.tell_why_not(e.what());
      throw;
    }
  };
}

}  // namespace lockmark::cli
