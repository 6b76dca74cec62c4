// Goal:   the table of a confusion matrix says which side is which, and its columns are aligned.
// Method: small tables as text.

#include "trireme/train/evaluate/confusion_table.h"

#include <gtest/gtest.h>

namespace trireme::train {
namespace {

TEST(ConfusionTable, HasHeadingsOnBothSides) {
  EXPECT_EQ(confusion_table({"cat", "d\xc3\xb6g"}, {1200000, 3, 0, 12}),
            "confusion matrix\n"
            "       predicted\n"
            "actual     cat     d\xc3\xb6g\n"
            "cat    1200000       3\n"
            "d\xc3\xb6g          0      12\n");
}

TEST(ConfusionTable, CutsLongNames) {
  const std::string name(30, 'x');
  EXPECT_EQ(confusion_table({name, "b"}, {1, 2, 3, 4}),
            "confusion matrix\n"
            "                     predicted\n"
            "actual               xxxxxxxxx~          b\n"
            "xxxxxxxxxxxxxxxxxxx~          1          2\n"
            "b                             3          4\n");
}

}  // namespace
}  // namespace trireme::train
