#include "trireme/comm/work.h"

#include <exception>
#include <utility>

#include "trireme/comm/engine.h"

namespace trireme::comm {

Work::Work(std::shared_ptr<Engine> engine, std::shared_ptr<Activity> activity)
    : engine_(std::move(engine)),
      activity_(std::move(activity)),
      exceptions_(std::uncaught_exceptions()) {}

Work::Work(Work&& other) noexcept
    : engine_(std::move(other.engine_)),
      activity_(std::move(other.activity_)),
      exceptions_(other.exceptions_) {}

Work& Work::operator=(Work&& other) noexcept {
  if (this != &other) {
    settle();
    engine_ = std::move(other.engine_);
    activity_ = std::move(other.activity_);
    exceptions_ = other.exceptions_;
  }
  return *this;
}

Work::~Work() {
  settle();
}

void Work::settle() noexcept {
  if (!activity_) return;
  try {
    if (std::uncaught_exceptions() > exceptions_) {
      engine_->abort(*activity_->fate,
                     Error(ErrorCode::Aborted, "abandoned while an exception passed by"));
    }
    engine_->wait(*activity_);
  } catch (...) {
    // The error belongs to the group: the next call on it throws the error again.
  }
  activity_.reset();
}

void Work::wait() {
  if (!activity_) return;
  engine_->wait(*activity_);
  activity_.reset();  // a completed operation cannot be abandoned
}

void Work::wait(Deadline deadline) {
  if (!activity_) return;
  engine_->set_deadline(*activity_, deadline);
  wait();
}

bool Work::is_done() {
  if (!activity_) return true;
  if (!engine_->test(*activity_)) return false;
  engine_->wait(*activity_);
  return true;
}

void wait_all(std::vector<Work>& works) {
  std::exception_ptr first;
  for (Work& work : works) {
    try {
      work.wait();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  works.clear();
  if (first) std::rethrow_exception(first);
}

}  // namespace trireme::comm
