// The process of the proxies for tests; lockmark itself is the other one (`lockmark proxy`).
#include <unistd.h>

#include "harness/faults/proxy/serve.hpp"

int main() {
  return lockmark::faults::serve_proxies(STDIN_FILENO, STDOUT_FILENO);
}
