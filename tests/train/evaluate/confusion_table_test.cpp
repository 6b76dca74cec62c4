// Goal:   the tables of classes and of a confusion matrix are aligned, and say which side is which.
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

TEST(ClassTable, HasARowPerClass) {
  EXPECT_EQ(class_table({"cat", std::string(30, 'x')},
                        {{.precision = 0.5, .recall = 1, .f1 = 2.0 / 3, .count = 12}, {}}),
            "class                precision    recall        f1     count\n"
            "cat                     0.5000    1.0000    0.6667        12\n"
            "xxxxxxxxxxxxxxxxxxx~    0.0000    0.0000    0.0000         0\n");
}

}  // namespace
}  // namespace trireme::train
