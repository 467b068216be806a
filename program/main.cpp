#include "program/program.hpp"

int main(int argc, char** argv) {
  return lockmark::cli::run_program(argc, argv);
}
