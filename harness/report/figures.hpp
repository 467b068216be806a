// The figures of a run: one row each. Tables, CSV, JSON, the HTML report, the gate, --fail and
// claims are derived from it.
//
// To add a figure: write it to run.json, describe it in run.schema.json, and add its row here.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lockmark::report {

enum class unit : std::uint8_t { time, rate, share, number, count };
enum class better : std::uint8_t { more, less, neither };

// A figure of one run. No value: the event did not happen, or it was not counted.
struct reading {
  std::optional<double> value{};  // times in nanoseconds, shares from 0 to 1
  bool censored = false;          // only a lower bound is known
  // The number of samples, if too few for the quantile: then it has no value.
  std::optional<std::int64_t> too_few{};

  bool operator==(const reading&) const = default;
};

struct figure {
  std::string_view name;   // the name in --fail and in claims
  std::string_view words;  // "commands per grant"
  unit in = unit::number;
  better is = better::neither;
  // Its place in run.json, as a JSON pointer. With `q`: a list of quantiles, and this one of them.
  std::string_view path{};
  double q = 0;
  bool younger = false;  // added after schema version 1.0: not in every run
  // Instead of a path, for a figure computed from others.
  reading (*computed)(const nlohmann::ordered_json& content) = nullptr;

  // Its column in tables for people; no column if `head` is empty.
  struct {
    std::string_view head{}, chinese{};
    std::string_view narrow{};  // for a terminal, in English; empty: the head
    int keep = 0;               // columns with lower values are dropped first if width is short
    bool if_known = false;      // no column unless some row has a value
  } column{};
  bool of_verdict = false;  // its column is next to the verdict; above 0 is an alarm

  // Its names for programs: of a CSV column, and a JSON pointer into a row; empty: none.
  std::string_view csv{}, json{};

  // In the HTML report: a tile, and one bar per run.
  struct {
    std::string_view title{}, note{};
  } tile{};
  struct {
    std::string_view title{}, note{}, axis{};
    int most = 0;  // end of the axis; 0: as far as the bars need
  } chart{};

  // As a metric of the gate: its name there, and the acceptable relative worsening.
  struct {
    std::string_view name{};
    double tolerated = 0;
    int place = 0;         // position among them in output
    bool counted = false;  // constant if no client waits for another
  } gate{};
};

inline constexpr int always_shown = 100;

std::span<const figure> figures();

// Null for an unknown name.
const figure* find_figure(std::string_view name);
// REQUIRES: a figure has the name.
const figure& known_figure(std::string_view name);
// "p50, p90, ..."
std::string figure_names();

// Throws nlohmann::json::exception if run.json is not as lockmark writes it.
reading read_figure(const figure& f, const nlohmann::ordered_json& content);

// In a table: "1.2 ms", "> 1.0 s", "-". As a bound, ">= 1234" and "<= 1.2 ms".
std::string cell_text(const figure& f, const reading& r, bool bound = false);
// On its own: "1.2 ms", "8200/s", "52 %", "2.00".
std::string value_text(const figure& f, double value, int decimals = 2);
// For programs: a number, "> N", or null.
nlohmann::ordered_json value_json(const figure& f, const reading& r);

}  // namespace lockmark::report
