// DataDigest is what ranks compare of their training data: the number of samples, and a hash of the
// preprocessing that was learned from them. Ranks with different copies of the data would
// standardize differently, and the same index would mean different samples.
//
// Errors:        expect_same_data() and expect_data_of() throw Mismatch.
// Thread safety: a value.

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
  // For the message: the name of the rank or worker with this digest, and of the one with the
  // expected digest, for example "rank 1" and "rank 0".
  void expect_data_of(const DataDigest& expected, const std::string& who,
                      const std::string& other) const;
  friend bool operator==(const DataDigest&, const DataDigest&) = default;
};

// A collective. Its deadline allows for the time that opening data may take. Throws on every rank,
// with the names of all ranks that differ from rank 0.
void expect_same_data(const comm::Group& group, const DataDigest& mine);

}  // namespace trireme::train
