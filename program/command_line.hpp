// The command line as JSON, for the templates of shell completion and of the manual page.
//
// Everything is read from the declarations themselves: commands, options and their checks from
// CLI11, keys of a job from config, names from the tables of locks, workloads, jobs, topologies.
//
//   program, summary, footer, version
//   options                             of the program itself
//   commands      name, help, options
//   keys          of a job, for --set KEY=VALUE: name, preset, allowed ("closed or open"), help,
//                 and as `values` the words among what is allowed
//   vocabulary    words that are known of a kind of value: value ("LOCK"), function, words, job
//   jobs, locks, workloads, topologies  name, help; of a lock also its topologies
//   topics        of `help`: name, help, paragraphs with their text
//
// An option has
//   names         name ("--set"), bare ("set"), long; none: an argument
//   place         "job": the name of an argument; empty: an option
//   position      of an argument: 1 or more; of several, the first one opens, the others follow
//   called        its last name
//   value         "TARGET"; empty: a flag
//   words         that the value can be: all there are (choice), or those known of its kind
//   setting, folder, file, job          what else completes the value
//   is_known      whether anything does
//   function      the kind of value as part of a function's name: "target"
//   list          several values may stand in one word, with commas between
//   preset, help, required, repeats, is_help
//
// A list of words is one of objects with `word`; in lists that are joined, one is `first`.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/templates/fill.hpp"
#include "program/catalogue.hpp"

namespace lockmark::cli {

using templates::json;

json describe(const CLI::App& app, const catalogue& known);

// The items of "closed, open or poisson"; none unless all of them are single words.
std::vector<std::string> listed(std::string_view text);

}  // namespace lockmark::cli
