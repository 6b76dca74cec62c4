#include "trireme/base/processor.h"
#include "trireme/testing/second_chance.h"

int main(int argc, char** argv) {
  trireme::avoid_unusable_tiles();
  return trireme::testing::run_tests(argc, argv);
}
