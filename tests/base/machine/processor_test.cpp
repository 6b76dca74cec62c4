// Goal:   tiles that a processor reports without describing them are not used; others are.
// Method: CPUID answers of known machines; this machine's own; the environment before and after.

#include "trireme/base/machine/processor.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace trireme {
namespace {

TEST(Processor, TilesWithoutASizeAreUnusable) {
  EXPECT_FALSE(are_unusable({.has_tiles = false, .highest_leaf = 0x10}));
  EXPECT_TRUE(are_unusable({.has_tiles = true, .highest_leaf = 0x1c}));
  EXPECT_TRUE(are_unusable({.has_tiles = true, .highest_leaf = 0x20, .palettes = 1}));
  EXPECT_FALSE(are_unusable(
      {.has_tiles = true, .highest_leaf = 0x20, .palettes = 1, .bytes_per_tile = 1024}));
}

TEST(Processor, OneDnnIsRestrictedOnlyIfNecessary) {
  const char* const before = std::getenv("ONEDNN_MAX_CPU_ISA");
  const std::string kept = before == nullptr ? "" : before;
  ::unsetenv("ONEDNN_MAX_CPU_ISA");
  const bool is_needed = are_unusable(ask_for_tiles());
  EXPECT_EQ(avoid_unusable_tiles(), is_needed);
  EXPECT_EQ(std::getenv("ONEDNN_MAX_CPU_ISA") != nullptr, is_needed);
  ::setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
  EXPECT_FALSE(avoid_unusable_tiles()) << "the user's setting is kept";
  EXPECT_STREQ(std::getenv("ONEDNN_MAX_CPU_ISA"), "AVX2");
  if (kept.empty()) {
    ::unsetenv("ONEDNN_MAX_CPU_ISA");
  } else {
    ::setenv("ONEDNN_MAX_CPU_ISA", kept.c_str(), 1);
  }
}

}  // namespace
}  // namespace trireme
