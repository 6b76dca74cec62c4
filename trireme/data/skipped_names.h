// SkippedNames remembers which bad samples of a source the user was told of, so that each is named
// once, and at most kMax of them, whatever the number of epochs and loaders.
//
// Threads: any thread.

#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>

namespace trireme::data {

class SkippedNames {
 public:
  static constexpr std::size_t kMax = 10;

  // How many samples are named with this one; 0 where it is not to be named: it was before, or
  // kMax others were.
  std::size_t add(const std::string& complaint) {
    const std::lock_guard lock(mutex_);
    if (named_.size() == kMax || !named_.insert(complaint).second) return 0;
    return named_.size();
  }

 private:
  std::mutex mutex_;
  std::set<std::string> named_;
};

}  // namespace trireme::data
