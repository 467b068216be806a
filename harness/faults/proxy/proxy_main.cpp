// The proxy process for tests; in production lockmark itself is that process (`lockmark proxy`).
#include <unistd.h>

#include "harness/faults/proxy/serve.hpp"

int main() {
  return lockmark::faults::serve_proxies(STDIN_FILENO, STDOUT_FILENO);
}
