// Report collects the mistakes in a configuration, so that all of them are said at once, each with
// its place, its key, what is wrong and, where there is one, the name that was probably meant.
//
//   3 mistakes in the configuration:
//     job.toml:4: run.rnks: there is no such setting; did you mean run.ranks?
//     job.toml:7: run.grace: "5 parsecs" is no duration; write ...
//     override 2: data.shufle: there is no such setting; did you mean data.shuffle?
//
// Threads: one thread at a time.

#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::config {

// Where something was said. Sources are counted in the order in which they are read: files, then
// overrides.
struct Place {
  int source = 0;
  std::string name;  // "job.toml", "override 2"
  int line = 0;      // 0 where the source has no lines

  std::string to_text() const;
};

struct Mistake {
  Place place;
  std::string key;  // empty where the mistake is not about one
  std::string what;
};

class Report {
 public:
  // Mistakes past this many are counted, not kept: nobody reads them, and a hostile file could
  // make millions.
  static constexpr std::size_t kKept = 100;

  void add(Mistake mistake);

  bool is_empty() const noexcept { return mistakes_.empty(); }
  bool is_full() const noexcept { return mistakes_.size() >= kKept; }
  const std::vector<Mistake>& mistakes() const noexcept { return mistakes_; }

  // By source and line.
  std::string to_text() const;

  // Throws InvalidInput with the text unless there are no mistakes.
  void throw_if_any() const;

 private:
  std::vector<Mistake> mistakes_;
  std::size_t count_ = 0;
};

}  // namespace trireme::config
