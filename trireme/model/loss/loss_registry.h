// LossRegistry contains the losses that a program adds to the built-in ones: kinds of a recipe's
// [loss].
//
//   model::LossRegistry losses;
//   losses.add<HuberConfig>("huber", "the Huber loss", [](const HuberConfig& c, const data::Form&)
//   {
//     return std::make_shared<Huber>(c.delta);
//   });
//
// Thread safety: filled by one thread, then read by any thread.
// Errors:        Misuse from add_kinds() for a name that [loss] already has.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/base/config/section.h"
#include "trireme/data/form.h"
#include "trireme/model/loss/loss.h"

namespace trireme::model {

inline constexpr const char* kLossSection = "loss";

class LossRegistry {
 public:
  // The form is that of the training data.
  template <class Config>
  using Make = std::function<std::shared_ptr<const Loss>(const Config&, const data::Form&)>;

  template <class Config>
  void add(const std::string& name, const std::string& help, Make<Config> make) {
    entries_.push_back(
        {.name = name,
         .declare = [name, help](config::Section& section) { section.kind<Config>(name, help); },
         .make =
             [make = std::move(make)](const config::Config& config, const data::Form& form) {
               return make(config.get<Config>(kLossSection), form);
             }});
  }

  void add_kinds(config::Section& section) const {
    for (const Entry& entry : entries_) entry.declare(section);
  }

  // Null if [loss] names a built-in loss.
  std::shared_ptr<const Loss> make(const config::Config& config, const data::Form& form) const {
    for (const Entry& entry : entries_) {
      if (entry.name == config.kind(kLossSection)) return entry.make(config, form);
    }
    return nullptr;
  }

 private:
  struct Entry {
    std::string name;
    std::function<void(config::Section&)> declare;
    std::function<std::shared_ptr<const Loss>(const config::Config&, const data::Form&)> make;
  };

  std::vector<Entry> entries_;
};

}  // namespace trireme::model
