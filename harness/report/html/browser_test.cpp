// The page in Chromium, without a network: wide and narrow, light and dark, with and without
// scripts; and the detection of broken pages.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/report/html/page.hpp"
#include "harness/report/html/sample_runs.hpp"

namespace lockmark::report::html {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The output of browser.py for the pages: by file name and view.
json seen_by_chromium(const std::vector<fs::path>& pages, const std::string& options = "") {
  std::string command = "python3 harness/report/html/browser.py " + options;
  for (const fs::path& page : pages) command += fmt::format(" '{}'", page.string());
  std::string text;
  FILE* const output = popen(command.c_str(), "r");
  std::array<char, 4096> piece;
  for (std::size_t n = 0; (n = fread(piece.data(), 1, piece.size(), output)) > 0;) {
    text.append(piece.data(), n);
  }
  EXPECT_EQ(pclose(output), 0) << command;
  const json found = json::parse(text, nullptr, false);
  EXPECT_TRUE(found.is_object()) << text;
  return found;
}

// Sentences about the errors in a view of a page.
std::vector<std::string> faults_of(const json& view) {
  std::vector<std::string> faults = view["complaints"];
  for (const std::string url : view["requests"]) faults.push_back("asked for " + url);
  if (view["width"] > view["asked_width"]) {
    faults.push_back(fmt::format("{} px wide", view["width"].dump()));
  }
  const bool scripts = view["view"] != "no-scripts";
  for (const json& chart : view["charts"]) {
    const std::string id = chart["id"];
    if (!scripts && chart["shown"] == true) faults.push_back(id + " is shown without scripts");
    if (scripts && chart["points"] == 0) faults.push_back(id + " is not drawn");
    if (scripts && chart["coloured"] < 20) faults.push_back(id + " is blank");
  }
  return faults;
}

struct browser : testing::Test {
  fs::path write(const std::string& name, const std::string& text) const {
    write_text(folders_.root() / name, text);
    return folders_.root() / name;
  }
  sample_folders folders_;
};

// Every view of `page` is free of errors and has `charts` charts; without scripts the tables have
// as many rows as with them.
void expect_good(const json& page, std::size_t charts) {
  EXPECT_EQ(page.size(), 6U);
  for (const json& view : page) {
    SCOPED_TRACE(view["view"].dump());
    EXPECT_THAT(faults_of(view), IsEmpty());
    EXPECT_EQ(view["charts"].size(), charts);
    EXPECT_EQ(view["rows"], page["wide-light"]["rows"]);
    EXPECT_GT(view["rows"], 60);
  }
}

TEST_F(browser, shows_one_run_and_twelve_and_an_hour) {
  const json found =
      seen_by_chromium({write("one.html", page({folders_.whole("one", faulty_run())})),
                        write("twelve.html", page(folders_.twelve())),
                        write("hour.html", page({folders_.hour_long("hour")}))});
  expect_good(found["one.html"], 6);
  // Four shared by each of two scenarios, six for each whole run; a killed one has four of these.
  expect_good(found["twelve.html"], 2 * 4 + 11 * 6 + 4);
  expect_good(found["hour.html"], 6);
  const auto headline = [&](const char* page, const char* view) {
    return found[page][view]["headline"].get<std::string>();
  };
  EXPECT_THAT(headline("one.html", "no-scripts"), HasSubstr("The lock held"));
  EXPECT_THAT(headline("twelve.html", "narrow-dark"), HasSubstr("1 of 12 DID NOT HOLD"));
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

// The checks above find the errors they are for.
TEST_F(browser, sees_what_is_broken) {
  const std::string good = page({folders_.whole("one", faulty_run())});
  const std::string plain = page({folders_.whole("plain", run::sample_run{})});
  const std::string no_policy = replaced(good, "http-equiv=Content-Security-Policy", "name=none");
  const std::string image = "<img src=\"http://192.0.2.1/x.png\" alt=\"\">";
  const std::vector<fs::path> broken{
      write("lost.html", replaced(good, "\"r0-rates\":", "\"r0-other\":")),
      write("empty.html", replaced(good, "\"columns\":[[", "\"columns\":[],\"old\":[[")),
      write("blank.html", replaced(plain, "this.paintCells(ctx);", "")),
      write("remote.html", replaced(good, "<header>", image + "<header>")),
      write("open.html", replaced(no_policy, "<header>", image + "<header>")),
      write("wide.html", replaced(good, "<header>", "<div style=\"width:2000px\">x</div><header>")),
      write("warns.html", replaced(good, "'use strict';", "console.warn('deprecated');")),
      write("throws.html", replaced(good, "root.className = 'js';", "nothing();")),
  };
  const json found = seen_by_chromium(broken, "--views wide-light");
  const auto in = [&](const char* name) { return faults_of(found[name]["wide-light"]); };
  EXPECT_THAT(in("lost.html"), AllOf(Contains("chart r0-rates: its data are missing"),
                                     Contains("r0-rates is not drawn")));
  EXPECT_THAT(in("empty.html"), Contains(HasSubstr("r0-heat")));
  EXPECT_THAT(in("blank.html"), Contains("r0-heat is blank"));
  EXPECT_THAT(in("remote.html"), Contains(HasSubstr("Content Security Policy")));
  EXPECT_THAT(in("open.html"), Contains("asked for http://192.0.2.1/x.png"));
  EXPECT_THAT(in("wide.html"), Contains(HasSubstr("px wide")));
  EXPECT_THAT(in("warns.html"), Contains("deprecated"));
  EXPECT_THAT(in("throws.html"), Contains(HasSubstr("nothing is not defined")));
}

}  // namespace
}  // namespace lockmark::report::html
