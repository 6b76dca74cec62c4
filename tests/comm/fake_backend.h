// A backend and a progress source that a test controls, for components that are tested without a
// transport.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "trireme/comm/backend.h"
#include "trireme/comm/engine.h"

namespace trireme::comm {

class FakeBackend final : public Backend {
 public:
  std::function<Task(const Operation&)> on_run;

  FakeBackend() : Backend({0, 1, 2}, 1) {}

  BackendCapabilities capabilities() const noexcept override { return {.name = "fake"}; }
  Task run(const Operation& op) override { return on_run(op); }
  Error stalled(const Operation& op, Duration) const override {
    return Error(ErrorCode::Deadline, "rank 2 never came").with_operation(op.name());
  }
  std::optional<Error> failure() const override {
    std::lock_guard lock(mutex_);
    return failure_;
  }
  std::optional<Error> loss() const override {
    std::lock_guard lock(mutex_);
    return loss_;
  }
  void announce(const Error& error) noexcept override {
    std::lock_guard lock(mutex_);
    announced_.push_back(error);
  }
  std::shared_ptr<Backend> subgroup(std::span<const int>, std::uint64_t) override {
    return nullptr;
  }

  // The result of failure() from now on.
  void fail(const Error& error) {
    std::lock_guard lock(mutex_);
    failure_ = error;
  }
  // The result of loss() from now on.
  void lose(const Error& error) {
    std::lock_guard lock(mutex_);
    loss_ = error;
  }
  std::vector<Error> announced() const {
    std::lock_guard lock(mutex_);
    return announced_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Error> failure_, loss_;
  std::vector<Error> announced_;
};

// Sleeps until it is woken, and counts its calls.
class FakeSource final : public ProgressSource {
 public:
  std::function<bool()> on_poll = [] { return false; };
  std::function<void()> on_prepare = [] {};
  std::function<void()> on_sleep = [] {};

  bool poll() override { return on_poll(); }
  void prepare_sleep() override {
    {
      std::lock_guard lock(mutex_);
      is_woken_ = false;
    }
    on_prepare();
  }
  void sleep(Duration longest) override {
    on_sleep();
    std::unique_lock lock(mutex_);
    ++sleeps_;
    longest_ = std::max(longest_, longest);
    woken_.wait_for(lock, longest, [&] { return is_woken_; });
  }
  void finish_sleep() override {}
  void wake() noexcept override {
    std::lock_guard lock(mutex_);
    is_woken_ = true;
    woken_.notify_all();
  }

  int sleeps() const {
    std::lock_guard lock(mutex_);
    return sleeps_;
  }
  // The longest requested sleep.
  Duration longest() const {
    std::lock_guard lock(mutex_);
    return longest_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable woken_;
  bool is_woken_ = false;
  int sleeps_ = 0;
  Duration longest_{};
};

}  // namespace trireme::comm
