// TasksSource is a source of samples of one class each of which more is asked: the group that the
// class is in, the mean of the sample's numbers. What a model with several heads learns from.
//
// Meaning: the target is float32 (tasks): class, then group, then mean, as far as they are wanted;
//          the mean is that of the sample as it was augmented.
// Threads: any thread.
// Failure: InvalidInput where samples are no numbers of one class each, or the groups do not fit
//          the classes.

#pragma once

#include <memory>
#include <vector>

#include "trireme/data/data_config.h"
#include "trireme/data/source.h"

namespace trireme::data {

class TasksSource final : public Source {
 public:
  TasksSource(std::shared_ptr<const Source> source, const DataConfig& config);

  std::int64_t count() const override { return source_->count(); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;

 private:
  std::shared_ptr<const Source> source_;
  std::vector<std::int64_t> groups_;
  bool has_mean_;
  Form form_;
};

// The source itself where one thing is asked or there is none.
std::shared_ptr<const Source> with_tasks(std::shared_ptr<const Source> source,
                                         const DataConfig& config);

}  // namespace trireme::data
