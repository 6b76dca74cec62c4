// Goal:   the table shows the efficiency, the additional time per step compared with one rank, and
//         whether ranks share cores.
// Method: handmade records with round numbers.

#include "bench/train/record.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::bench::train {
namespace {

TrainRecord scaled(int ranks, double units, trireme::train::StepTimes parts) {
  TrainRecord record;
  record.ranks = ranks;
  record.threads = 1;
  record.units_per_second = units;
  record.unit = "images";
  record.seconds_per_step = parts.total();
  record.parts = parts;
  return record;
}

TEST(Scaling, ShowsTheLostTimeAndItsParts) {
  const trireme::train::StepTimes alone{
      .data = 0, .forward = 0.010, .backward = 0.020, .wait = 0, .update = 0.004};
  trireme::train::StepTimes two = alone;
  two.backward = 0.0225;
  two.wait = 0.001;
  two.update = 0.002;
  const std::vector<TrainRecord> records{scaled(1, 1000, alone), scaled(2, 1800, two),
                                         scaled(4, 1900, two)};
  const std::string table = scaling_table(records, 2);
  EXPECT_NE(table.find("0.90"), std::string::npos) << table;
  EXPECT_NE(table.find("+2.5     +1.0     -2.0"), std::string::npos) << table;
  EXPECT_NE(table.find("4 threads share 2 cores: at best 0.50"), std::string::npos) << table;
  EXPECT_EQ(table.find("2 threads share"), std::string::npos) << table;
}

TEST(Scaling, BeginsWithOneRank) {
  EXPECT_THROW(scaling_table({}, 2), Error);
  const std::vector<TrainRecord> records{scaled(2, 1, {})};
  EXPECT_THROW(scaling_table(records, 2), Error);
}

}  // namespace
}  // namespace trireme::bench::train
