// Report collects all mistakes in a configuration and reports them together. Each entry has the
// place, the key, a description and, if possible, the name that was probably meant.
//
//   3 mistakes in the configuration:
//     job.toml:4: run.rnks: there is no such setting; did you mean run.ranks?
//     job.toml:7: run.grace: "5 parsecs" is no duration; write ...
//     override 2: data.shufle: there is no such setting; did you mean data.shuffle?
//
// Thread safety: one thread at a time.

#pragma once

#include <string>
#include <vector>

namespace trireme::config {

// The location of a statement. Sources are numbered in the order in which they are read: files,
// then overrides.
struct ConfigLocation {
  int source = 0;
  std::string name;  // "job.toml", "override 2"
  int line = 0;      // 0 if the source has no lines

  std::string to_text() const;
};

struct Mistake {
  ConfigLocation place;
  std::string key;  // empty if the mistake does not concern one key
  std::string what;
};

class Report {
 public:
  // Mistakes beyond this number are counted but not stored: a malicious file could produce
  // millions.
  static constexpr std::size_t kKept = 100;

  void add(Mistake mistake);

  bool is_empty() const noexcept { return mistakes_.empty(); }
  bool is_full() const noexcept { return mistakes_.size() >= kKept; }
  const std::vector<Mistake>& mistakes() const noexcept { return mistakes_; }

  // Sorted by source and line.
  std::string to_text() const;

  // Throws InvalidInput with the text if there are mistakes.
  void throw_if_any() const;

 private:
  std::vector<Mistake> mistakes_;
  std::size_t count_ = 0;
};

}  // namespace trireme::config
