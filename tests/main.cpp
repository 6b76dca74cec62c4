#include <gtest/gtest.h>

#include "trireme/base/machine/processor.h"

int main(int argc, char** argv) {
  trireme::avoid_unusable_tiles();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
