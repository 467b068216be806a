#include "harness/run/folder.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/config/redaction.hpp"
#include "harness/run/json_values.hpp"
#include "harness/run/result_json.hpp"

namespace lockmark::run {
namespace {

namespace fs = std::filesystem;
constexpr const char* latency_name = "latency.hlog";
constexpr const char* timeline_name = "timeline.jsonl";
constexpr const char* history_name = "history.edn";
// Bytes of history per write.
constexpr std::size_t history_block = 1 << 18;

void create_empty(const fs::path& path) {
  std::error_code failed;
  if (fs::exists(path, failed) && !fs::is_directory(path, failed)) {
    throw usage_error("run folder {}: is not a folder", path.string());
  }
  try {
    create_private_folders(path);
  } catch (const file_error& e) {
    throw usage_error("run folder {}: cannot be created: {}", path.string(), e.why());
  }
  const bool empty = fs::is_empty(path, failed);
  if (failed) {
    throw usage_error("run folder {}: cannot be read: {}", path.string(), failed.message());
  }
  if (!empty) {
    throw usage_error("run folder {}: is not empty; a run is written once, so name a new folder",
                      path.string());
  }
}

std::vector<std::string> hlog_comments(const result& r) {
  std::vector<std::string> comments;
  comments.push_back(fmt::format("lockmark run {}: {} on {}", r.run_id, r.lock, r.target));
  comments.push_back("values are nanoseconds; untagged: response (granted - intended)");
  comments.push_back("only granted attempts have a response; run.json counts the others");
  return comments;
}

// Quantiles of all attempts that ended in the interval, as run.json has those of the run.
std::string timeline_line(const interval& i, std::int64_t at_ns, std::int64_t length_ns,
                          std::chrono::nanoseconds wait) {
  json line;
  line["at_s"] = static_cast<double>(at_ns) / 1e9;
  line["length_s"] = static_cast<double>(length_ns) / 1e9;
  line["attempts"] = i.counts.attempts();
  for (std::size_t c = 0; c < counter_names.size(); ++c) {
    const std::uint64_t n = i.counts[static_cast<counter>(c)];
    if (n > 0 || c == 0) line[std::string(counter_names[c])] = n;
  }
  const auto add_quantile = [&](const char* name, series s, double q) {
    const stats::attempts all = i.all_attempts(s, wait);
    line[name] = all.count() == 0 ? json() : time_ns(all.at_quantile(q));
  };
  add_quantile("response_p50_ns", series::response, 0.5);
  add_quantile("response_p99_ns", series::response, 0.99);
  add_quantile("response_max_ns", series::response, 1);
  add_quantile("service_p50_ns", series::service, 0.5);
  add_quantile("service_p99_ns", series::service, 0.99);
  const auto add_lag = [&](const char* name, series s) {
    line[name] = i[s].empty() ? json() : json(i[s].value_at_quantile(0.99));
  };
  add_lag("timer_lag_p99_ns", series::timer_lag);
  add_lag("loop_lag_p99_ns", series::loop_lag);
  return line.dump() + "\n";
}

}  // namespace

// Writes to the file `name`, and remembers a failure.
template <class Write>
void run_folder::put(const std::string& name, Write write) {
  try {
    write();
  } catch (const file_error& e) {
    failed_ = true;
    throw write_error(
        fmt::format("run folder {}: {} cannot be written: {}", path_.string(), name, e.why()));
  }
}

run_folder::run_folder(fs::path path, const config::job& job)
    : path_(std::move(path)), wait_(job.wait) {
  create_empty(path_);
  try {
    write_whole("job.yaml", config::print_job(config::redacted(job)));
  } catch (const write_error& e) {
    throw usage_error(e.what());
  }
}

void run_folder::begin(const result& known) {
  write_whole("run.json", dump(to_json_while_running(known)));
  put(latency_name, [&] { latency_file_.open(path_ / latency_name); });
  put(timeline_name, [&] { timeline_file_.open(path_ / timeline_name); });
  latency_.emplace(latency_file_.out(), known.started_wall_ns, hlog_comments(known));
  put(latency_name, [&] { latency_file_.flush(); });
}

void run_folder::add(const interval& whole, std::int64_t at_ns) {
  if (at_ns == 0) {
    if (first_) {
      first_->merge(whole);
    } else {
      first_ = whole;
    }
    return;
  }
  const std::int64_t length_ns = whole.end_ns - whole.start_ns;
  if (!first_) return write_interval(whole, at_ns, length_ns);
  first_->merge(whole);
  write_interval(*first_, 0, at_ns + length_ns);
  first_.reset();
}

// The last intervals of different threads may end in any order; lines of the file must not.
void run_folder::write_interval(const interval& whole, std::int64_t at_ns, std::int64_t length_ns) {
  at_ns = last_at_ns_ = std::max(at_ns, last_at_ns_);
  for (std::size_t s = 0; s < series_names.size(); ++s) {
    const auto which = static_cast<series>(s);
    const std::string_view tag = which == series::response ? "" : series_names[s];
    write_histogram(tag, at_ns, length_ns, whole[which]);
  }
  timeline_file_.out() << timeline_line(whole, at_ns, length_ns, wait_);
  put(timeline_name, [&] { timeline_file_.flush(); });
  if (history_) write_history();
}

void run_folder::keep_history(std::uint32_t clients, bool has_tokens) {
  put(history_name, [&] { history_file_.open(path_ / history_name); });
  history_.emplace(clients, has_tokens);
}

void run_folder::add(const check::event& e) {
  history_->append(e, history_text_);
  if (history_text_.size() >= history_block) write_history();
}

void run_folder::write_history() {
  history_file_.out() << history_text_;
  put(history_name, [&] { history_file_.flush(); });
  history_text_.clear();
}

void run_folder::write_histogram(std::string_view tag, std::int64_t at_ns, std::int64_t length_ns,
                                 const stats::histogram& values) {
  if (values.empty()) return;
  latency_->write(tag, at_ns, length_ns, values);
  if (!latency_file_.out()) put(latency_name, [&] { latency_file_.flush(); });
}

json run_folder::finish(const result& r) {
  if (!failed_ && !latency_) begin(r);
  if (!failed_) close_what_grows(r);
  json content = to_json(r);
  write_whole("run.json", dump(content));
  return content;
}

void run_folder::close_what_grows(const result& r) {
  if (first_) {
    write_interval(*first_, 0, std::min(first_->end_ns - first_->start_ns, r.window_ns));
    first_.reset();
  }
  write_histogram("transfer", 0, r.window_ns, r.found.transfer);
  write_histogram("self_reacquire", 0, r.window_ns, r.found.self_reacquire);
  write_histogram("hiccup", 0, r.window_ns, r.hiccup);
  put(latency_name, [&] { latency_file_.finish(); });
  put(timeline_name, [&] { timeline_file_.finish(); });
  if (!history_) return;
  write_history();
  put(history_name, [&] { history_file_.finish(); });
}

void run_folder::write_whole(const std::string& name, const std::string& text) {
  put(name, [&] { write_whole_file(path_ / name, text); });
}

}  // namespace lockmark::run
