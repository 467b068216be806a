#include "dashboards/lint.hpp"

#include <fmt/format.h>

#include <map>

#include "dashboards/queries.hpp"

namespace lockmark::dashboards {
namespace {

using json = nlohmann::json;

constexpr int columns = 24;  // of Grafana's grid

struct place {
  int x, y, w, h;

  bool overlaps(const place& o) const {
    return x < o.x + o.w && o.x < x + w && y < o.y + o.h && o.y < y + h;
  }
};

class checker {
 public:
  checker(std::string_view file, const json& dashboard, const known_names& known)
      : file_(file), all_(dashboard), known_(known) {}

  complaints check() {
    head();
    for (const json& panel : all_.at("panels")) check_panel(panel);
    for (const query& q : queries_of(file_, all_)) check_query(q);
    return std::move(found_);
  }

 private:
  void head() {
    const std::string stem(file_.substr(0, file_.find('.')));
    if (all_.value("uid", "") != fmt::format("lockmark-{}", stem)) {
      complain(fmt::format("its uid is not lockmark-{}, by which links and people know it", stem));
    }
    if (!all_.contains("id") || !all_.at("id").is_null()) complain("its id is not null");
    if (all_.value("refresh", "") != "5s") complain("it does not refresh every 5s");
    for (const char* list : {"annotations", "templating"}) {
      for (const json& entry : all_.at(list).at("list")) {
        if (entry.value("type", "") == "datasource") continue;
        check_source(entry, fmt::format("{} '{}'", list, entry.value("name", "")));
      }
    }
  }

  void check_panel(const json& panel) {
    const std::string name = fmt::format("panel '{}'", panel.value("title", ""));
    if (panel.value("title", "").empty()) complain(fmt::format("{}: has no title", name));
    if (!ids_.insert(panel.value("id", 0)).second) complain(fmt::format("{}: shares an id", name));
    check_place(panel, name);
    if (panel.value("type", "") == "row") return;
    check_source(panel, name);
    if (panel.value("description", "").empty()) {
      complain(fmt::format("{}: has no description", name));
    }
    const std::string unit =
        panel.value(json::json_pointer("/fieldConfig/defaults/unit"), std::string());
    if (unit.empty()) complain(fmt::format("{}: has no unit", name));
    check_targets(panel, name);
  }

  void check_targets(const json& panel, const std::string& name) {
    const json targets = panel.value("targets", json::array());
    if (targets.empty()) complain(fmt::format("{}: has no query", name));
    const bool has_legend = panel.value("type", "") != "table";
    std::set<std::string> letters;
    for (const json& target : targets) {
      check_source(target, name);
      const std::string letter = target.value("refId", "");
      if (!letters.insert(letter).second) complain(fmt::format("{}: two queries {}", name, letter));
      if (has_legend && target.value("legendFormat", "").empty()) {
        complain(fmt::format("{}: query {} has no legend", name, letter));
      }
    }
  }

  void check_place(const json& panel, const std::string& name) {
    const json at = panel.value("gridPos", json::object());
    const place here{at.value("x", 0), at.value("y", 0), at.value("w", 0), at.value("h", 0)};
    if (here.w <= 0 || here.h <= 0 || here.x < 0 || here.x + here.w > columns) {
      complain(fmt::format("{}: is not within the grid", name));
    }
    for (const place& other : places_) {
      if (here.overlaps(other)) complain(fmt::format("{}: lies on another panel", name));
    }
    places_.push_back(here);
  }

  void check_source(const json& of, const std::string& name) {
    const json source = of.value("datasource", json::object());
    if (source.value("type", "") != "prometheus" || source.value("uid", "") != "${datasource}") {
      complain(fmt::format("{}: its data source is not the variable", name));
    }
  }

  void check_query(const query& q) {
    for (std::string& c : complaints_about_query(q.where, q.expr, known_)) {
      found_.push_back(std::move(c));
    }
    const auto quantile = q.expr.find("histogram_quantile(");
    if (quantile != q.expr.npos && q.expr.find("by (le", quantile) == q.expr.npos) {
      found_.push_back(fmt::format("{}: a quantile without le", q.where));
    }
    for (auto at = q.expr.find("rate("); at != q.expr.npos; at = q.expr.find("rate(", at + 1)) {
      const auto range = q.expr.find('[', at);
      if (range != q.expr.npos && q.expr.compare(range, 18, "[$__rate_interval]") != 0) {
        found_.push_back(fmt::format("{}: a rate that is not over $__rate_interval", q.where));
      }
    }
  }

  void complain(std::string what) { found_.push_back(fmt::format("{}: {}", file_, what)); }

  std::string_view file_;
  const json& all_;
  const known_names& known_;
  std::set<int> ids_;
  std::vector<place> places_;
  complaints found_;
};

}  // namespace

complaints complaints_about_dashboard(std::string_view file, const json& dashboard,
                                      const known_names& known) {
  return checker(file, dashboard, known).check();
}

complaints complaints_about_uids(const std::vector<json>& dashboards) {
  std::map<std::string, int> times;
  for (const json& each : dashboards) ++times[each.value("uid", "")];
  complaints found;
  for (const auto& [uid, count] : times) {
    if (count > 1) found.push_back(fmt::format("{} dashboards have the uid {}", count, uid));
  }
  return found;
}

}  // namespace lockmark::dashboards
