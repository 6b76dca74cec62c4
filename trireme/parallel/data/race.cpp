#include "trireme/parallel/data/race.h"

#include <algorithm>

#include "trireme/base/error.h"

namespace trireme::parallel::data {
namespace {

constexpr std::uint32_t kDoneTag = 0x0D09E;

}  // namespace

void Race::begin(int left_out_max) {
  left_out_max_ = left_out_max;
  is_on_ = true;
  others_.assign(static_cast<std::size_t>(group_.size()), 0);
  is_there_.assign(others_.size() - 1, false);
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (rank == group_.rank()) continue;
    received_.push_back(
        group_.receive({&others_[static_cast<std::size_t>(rank)], 1, comm::DType::UInt8}, rank,
                       kDoneTag, {.label = "done"}));
  }
}

bool Race::is_lost() {
  if (!is_on_) return false;
  try {
    for (std::size_t i = 0; i < received_.size(); ++i) {
      if (!is_there_[i]) is_there_[i] = received_[i].is_done();
    }
  } catch (const Error&) {
    return false;
  }
  const auto done = std::count(is_there_.begin(), is_there_.end(), true);
  return done + left_out_max_ >= group_.size();
}

void Race::finish() {
  if (!is_on_) return;
  is_on_ = false;
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (rank == group_.rank()) continue;
    sent_.push_back(
        group_.send({&mine_, 1, comm::DType::UInt8}, rank, kDoneTag, {.label = "done"}));
  }
}

void Race::end() {
  comm::wait_all(sent_);
  comm::wait_all(received_);
  sent_.clear();
  received_.clear();
}

}  // namespace trireme::parallel::data
