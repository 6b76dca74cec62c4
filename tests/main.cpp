#include "trireme/testing/second_chance.h"

int main(int argc, char** argv) {
  return trireme::testing::run_tests(argc, argv);
}
