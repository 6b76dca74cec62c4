// StoreLink is the launcher's line to an elastic job's store: it says how many workers are wanted
// (key `wanted`), on a thread of its own, since the launcher must never wait for the coordinator.
//
// Meaning:  only the last number counts; it is written as soon as the store can be reached.
// Failure:  none is told: it tries until it has succeeded or is destroyed.
// Threads:  any thread may call.
// Lifetime: the destructor ends the thread, within a second.

#pragma once

#include <filesystem>
#include <memory>

namespace trireme::cluster::launch {

class StoreLink {
 public:
  // `folder` is the job's.
  explicit StoreLink(const std::filesystem::path& folder);
  ~StoreLink();
  StoreLink(const StoreLink&) = delete;
  StoreLink& operator=(const StoreLink&) = delete;

  void set_wanted(int workers);
  // The number said last was written down.
  bool is_idle() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::cluster::launch
