// DataDigest is what ranks compare of their training data: how many samples there are, and a hash
// of everything that was learned from them. Ranks whose copies of the data differ would standardize
// by different numbers and take different samples for the same.
//
// Threads: values.
// Errors:  expect_same_data() and expect_data_of() throw Mismatch.

#pragma once

#include <cstdint>
#include <string>

#include "trireme/comm/group.h"
#include "trireme/data/registry.h"

namespace trireme::train {

struct DataDigest {
  std::int64_t samples = 0;
  std::uint64_t learned = 0;  // XXH64 of Preprocessing::to_json()

  static DataDigest of(const data::Sets& sets);
  // `who` has this digest, and `other` has the expected one: "rank 1", "rank 0".
  void expect_data_of(const DataDigest& expected, const std::string& who,
                      const std::string& other) const;
  friend bool operator==(const DataDigest&, const DataDigest&) = default;
};

// A collective, with the time that opening data may take. Fails on every rank, and names each that
// differs from rank 0.
void expect_same_data(const comm::Group& group, const DataDigest& mine);

}  // namespace trireme::train
