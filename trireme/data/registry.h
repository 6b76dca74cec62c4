// DataRegistry is the list of kinds of data that a recipe can name under `[data]`: the settings of
// each kind and the function that opens it. A program can add its own kinds to the built-in ones.
//
//   registry.add<BirdsConfig>("birds", "recordings of birds",
//                             [](const BirdsConfig& c) -> Sets { return {open(c), nullptr}; });
//
// Data for evaluation and prediction are opened with what was learned from the training data
// (Preprocessing); the training data need not be available any more.
//
// Thread safety: filled by one thread, then read by any thread.
// Errors:        Misuse for a name that is already used; open() throws the errors of the kind's own
//                function, and InvalidInput if a set is empty or the two sets have different forms.

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/base/config/schema.h"
#include "trireme/data/preprocessing.h"

namespace trireme::data {

class Source;
struct SamplingConfig;

// The training set and the evaluation set; `test` may be null.
struct Sets {
  std::shared_ptr<const Source> train = nullptr;
  std::shared_ptr<const Source> test = nullptr;
  // The training samples without random augmentation, for a kind that augments by itself: parts of
  // them may be used for evaluation. Null if `train` has no random augmentation.
  std::shared_ptr<const Source> plain = nullptr;
  // A kind sets what it learned from a table; DataRegistry::open() adds the forms.
  Preprocessing preprocessing = {};
  // Messages for the user about how the data were read, for example about dropped rows.
  std::vector<std::string> notes = {};  // NOLINT(readability-redundant-member-init)
};

// Samples without targets, and what identifies each: a line number or the name of a file.
struct Inputs {
  // An input that cannot be predicted, and the sample of the source that it precedes.
  struct LeftOut {
    std::int64_t before = 0;
    std::string name;
  };
  std::shared_ptr<const Source> source = nullptr;  // its targets are not read
  std::vector<std::string> names = {};             // NOLINT(readability-redundant-member-init)
  std::string named_by = "line";                   // or "file"
  std::vector<LeftOut> left_out = {};              // NOLINT(readability-redundant-member-init)
};

// Arguments, besides its settings, of a kind that learns from its training samples.
struct Learning {
  const SamplingConfig& sampling;  // with folds, `test` is the fold that is held out
  // What a job learned before, to be reused; null: learn it from the training samples.
  const Preprocessing* known = nullptr;
};

// How a kind opens its data.
template <class Config>
struct Opener {
  std::function<Sets(const Config&)> open = {};
  // Replaces open() for a kind that learns something from its training samples.
  std::function<Sets(const Config&, const Learning&)> learn = {};
  // Opens the evaluation set without the training data. If not set, open() opens both.
  std::function<std::shared_ptr<const Source>(const Config&, const Preprocessing&)> open_test = {};
  // Opens a file or folder for prediction. If not set, this kind does not support prediction from
  // files.
  std::function<Inputs(const Config&, const Preprocessing&, const std::filesystem::path&)>
      open_inputs = {};
};

class DataRegistry {
 public:
  template <class Config>
  void add(const std::string& name, const std::string& help,
           std::function<Sets(const Config&)> open) {
    add<Config>(name, help, Opener<Config>{.open = std::move(open)});
  }
  template <class Config>
  void add(const std::string& name, const std::string& help, Opener<Config> opener) {
    Kind kind{.name = name, .declare = [name, help](config::Section& section) {
                section.kind<Config>(name, help);
              }};
    if (opener.open) {
      kind.open = [open = std::move(opener.open)](const config::Config& config) {
        return open(config.get<Config>("data"));
      };
    }
    if (opener.learn) {
      kind.learn = [learn = std::move(opener.learn)](const config::Config& config,
                                                     const Learning& how) {
        return learn(config.get<Config>("data"), how);
      };
    }
    if (opener.open_test) {
      kind.open_test = [open = std::move(opener.open_test)](const config::Config& config,
                                                            const Preprocessing& known) {
        return open(config.get<Config>("data"), known);
      };
    }
    if (opener.open_inputs) {
      kind.open_inputs = [open = std::move(opener.open_inputs)](const config::Config& config,
                                                                const Preprocessing& known,
                                                                const std::filesystem::path& path) {
        return open(config.get<Config>("data"), known, path);
      };
    }
    kinds_.push_back(std::move(kind));
  }

  // `[data]`, with the settings that all kinds share: DataConfig, SamplingConfig and
  // TransformConfig.
  void add_sections(config::Schema& schema) const;
  // Opens the sets of the selected kind, transformed according to the settings. `known` is what a
  // resumed job learned before: its statistics are reused, with a note if the data have others now.
  // Errors: InvalidInput if the data contradict its names: classes, categories, columns or the
  // vocabulary.
  Sets open(const config::Config& config, const Preprocessing* known = nullptr) const;
  // Only the evaluation set; null if the settings name none.
  std::shared_ptr<const Source> open_test(const config::Config& config,
                                          const Preprocessing& known) const;
  // Samples for prediction. Errors: Unsupported if the kind has no files of single samples.
  Inputs open_inputs(const config::Config& config, const Preprocessing& known,
                     const std::filesystem::path& path) const;

 private:
  struct Kind {
    std::string name;
    std::function<void(config::Section&)> declare;
    std::function<Sets(const config::Config&)> open = {};
    std::function<Sets(const config::Config&, const Learning&)> learn = {};
    std::function<std::shared_ptr<const Source>(const config::Config&, const Preprocessing&)>
        open_test = {};
    std::function<Inputs(const config::Config&, const Preprocessing&, const std::filesystem::path&)>
        open_inputs = {};
  };

  const Kind& kind_of(const config::Config& config) const;
  Sets open_sets(const config::Config& config, const Preprocessing* known) const;

  std::vector<Kind> kinds_;
};

}  // namespace trireme::data
