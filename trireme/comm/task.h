// Task is the coroutine type of collectives: straight-line code that yields wherever it would have
// to wait, so that several operations make progress on one thread.
//
//   Task barrier(Lane& lane) {
//     lane.enter();
//     co_await until([&] { return lane.everyone_entered(); });
//   }
//
// A Task awaits only conditions (`until`) and other Tasks. It never blocks. The owner of the
// outermost Task calls step() repeatedly; destroying it abandons the whole chain.
//
// Thread safety: one thread at a time. Conditions are polled, so they must be cheap and must not
// throw.

#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace trireme::comm {

// What the outermost Task waits for: a condition, and the coroutine to resume.
struct Waiting {
  bool (*is_ready)(void* condition) = nullptr;
  void* condition = nullptr;
  std::coroutine_handle<> leaf;
};

class [[nodiscard]] Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  Task() = default;
  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      destroy();
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  ~Task() { destroy(); }

  enum class Step { Waiting, Moved, Done };

  // Runs until the next condition that does not hold; does nothing if the current one does not hold
  // yet. Rethrows an exception that left the task. For outermost tasks only.
  Step step();
  bool is_done() const noexcept { return !handle_ || handle_.done(); }

  // Awaiting a Task runs it as part of the awaiting Task.
  auto operator co_await() && noexcept;

 private:
  void destroy() noexcept {
    if (handle_) std::exchange(handle_, {}).destroy();
  }

  Handle handle_;
};

struct Task::promise_type {
  // Points to the outermost promise's `waiting`, so that a nested Task can set what it waits for.
  Waiting* root = &waiting;
  Waiting waiting;
  std::coroutine_handle<> continuation;
  std::exception_ptr error;

  Task get_return_object() { return Task(Handle::from_promise(*this)); }
  std::suspend_always initial_suspend() noexcept { return {}; }
  auto final_suspend() noexcept {
    struct Return {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(Handle self) noexcept {
        auto next = self.promise().continuation;
        return next ? next : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    return Return{};
  }
  void return_void() noexcept {}
  void unhandled_exception() noexcept { error = std::current_exception(); }
};

inline auto Task::operator co_await() && noexcept {
  struct Join {
    Handle inner;
    bool await_ready() noexcept { return !inner || inner.done(); }
    std::coroutine_handle<> await_suspend(Handle outer) noexcept {
      inner.promise().root = outer.promise().root;
      inner.promise().continuation = outer;
      return inner;
    }
    void await_resume() {
      if (inner && inner.promise().error) std::rethrow_exception(inner.promise().error);
    }
  };
  return Join{handle_};
}

inline Task::Step Task::step() {
  if (is_done()) return Step::Done;
  Waiting& waiting = handle_.promise().waiting;
  if (waiting.leaf) {
    if (!waiting.is_ready(waiting.condition)) return Step::Waiting;
    std::exchange(waiting.leaf, {}).resume();
  } else {
    handle_.resume();
  }
  if (!handle_.done()) return Step::Moved;
  if (handle_.promise().error) std::rethrow_exception(std::exchange(handle_.promise().error, {}));
  return Step::Done;
}

// Awaitable: continues once `condition()` holds, at once if it already does.
template <class Condition>
struct Until {
  Condition condition;

  bool await_ready() noexcept { return condition(); }
  void await_suspend(Task::Handle self) noexcept {
    *self.promise().root = {
        [](void* c) { return static_cast<bool>((*static_cast<Condition*>(c))()); }, &condition,
        self};
  }
  void await_resume() noexcept {}
};

template <class Condition>
Until<Condition> until(Condition condition) {
  return {std::move(condition)};
}

// Awaitable: yields once, so that a long computation can be interrupted and others make progress.
struct GiveWay {
  bool await_ready() noexcept { return false; }
  void await_suspend(Task::Handle self) noexcept {
    *self.promise().root = {[](void*) { return true; }, nullptr, self};
  }
  void await_resume() noexcept {}
};

}  // namespace trireme::comm
