// run_rank_threads() runs a body once per rank, each on its own thread, concurrently.
//
// Errors:        waits for all threads; then throws the error of the lowest rank that threw, with
//                its rank.
// Thread safety: blocks the caller until every body has returned, so every wait inside needs a
//                deadline.

#pragma once

#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "trireme/base/error.h"

namespace trireme::testing {

inline void run_rank_threads(int count, const std::function<void(int rank)>& body) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(rank);
      } catch (const Error& error) {
        errors[static_cast<std::size_t>(rank)] = std::make_exception_ptr(error.with_rank(rank));
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace trireme::testing
