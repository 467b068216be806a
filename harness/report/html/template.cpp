#include "harness/report/html/template.hpp"

namespace lockmark::report::html {
std::string filled(std::string_view name, const json& data) {
  return templates::filled({templates, templates::in_markup, formatted}, name, data);
}

}  // namespace lockmark::report::html
