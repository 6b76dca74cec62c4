// Registry is the list of kinds of data that a recipe can name under `[data]`: for each its
// settings and the function that opens it. A program adds kinds of its own beside the built-in.
//
//   registry.add<BirdsConfig>("birds", "recordings of birds",
//                             [](const BirdsConfig& c) -> Sets { return {open(c), nullptr}; });
//
// Threads: filled by one thread, read by any afterwards.
// Failure: Misuse for a name that is taken; open() throws what the kind's own function throws, and
//          InvalidInput where a set is empty or the two are of different forms.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/base/config/schema.h"

namespace trireme::data {

class Source;

// What is trained on and what is evaluated on; `test` may be null.
struct Sets {
  std::shared_ptr<const Source> train = nullptr;
  std::shared_ptr<const Source> test = nullptr;
  // The training samples with nothing random about them, of a kind that changes them by itself:
  // parts of them may be evaluated on. Null: `train` has nothing random.
  std::shared_ptr<const Source> plain = nullptr;
};

class Registry {
 public:
  template <class Config>
  void add(const std::string& name, const std::string& help,
           std::function<Sets(const Config&)> open) {
    kinds_.push_back(
        {.name = name,
         .declare = [name, help](config::Section& section) { section.kind<Config>(name, help); },
         .open = [open = std::move(open)](
                     const config::Config& config) { return open(config.get<Config>("data")); }});
  }

  // `[data]`, with the settings that all kinds share: DataConfig, SamplingConfig and
  // TransformConfig.
  void add_sections(config::Schema& schema) const;
  // The sets of the kind that is named, transformed as the settings say.
  Sets open(const config::Config& config) const;

 private:
  struct Kind {
    std::string name;
    std::function<void(config::Section&)> declare;
    std::function<Sets(const config::Config&)> open;
  };

  std::vector<Kind> kinds_;
};

}  // namespace trireme::data
