#include "trireme/train/recipe/data_digest.h"

#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/hash/xxh64.h"
#include "trireme/data/source/source.h"

namespace trireme::train {
namespace {

std::string with_count(const std::string& who, const DataDigest& digest) {
  return who + " (" + std::to_string(digest.samples) + " samples)";
}

[[noreturn]] void refuse(const std::string& who, const std::string& expected) {
  throw Error(
      ErrorCode::Mismatch,
      "the training data of " + who + " differ from those of " + expected +
          " in the number of samples or in the preprocessing. Use the same files on all hosts");
}

}  // namespace

DataDigest DataDigest::of(const data::Sets& sets) {
  return {.samples = sets.train->count(), .learned = xxh64(bytes_of(sets.preprocessing.to_json()))};
}

void DataDigest::expect_data_of(const DataDigest& expected, const std::string& who,
                                const std::string& other) const {
  if (*this != expected) refuse(with_count(who, *this), with_count(other, expected));
}

void expect_same_data(const comm::Group& group, const DataDigest& mine) {
  const std::int64_t piece[2] = {mine.samples, static_cast<std::int64_t>(mine.learned)};
  std::vector<std::int64_t> all(2 * static_cast<std::size_t>(group.size()));
  group
      .all_gather({all.data(), all.size(), comm::DType::Int64}, {piece, 2, comm::DType::Int64},
                  {.label = "data opened", .deadline = Deadline::after(group.timeouts().files())})
      .wait();
  const auto digest_of = [&](std::size_t rank) {
    return DataDigest{.samples = all[2 * rank],
                      .learned = static_cast<std::uint64_t>(all[2 * rank + 1])};
  };
  std::string others;
  for (std::size_t rank = 1; 2 * rank < all.size(); ++rank) {
    if (digest_of(rank) == digest_of(0)) continue;
    others +=
        (others.empty() ? "" : ", ") + with_count("rank " + std::to_string(rank), digest_of(rank));
  }
  if (!others.empty()) refuse(others, with_count("rank 0", digest_of(0)));
}

}  // namespace trireme::train
