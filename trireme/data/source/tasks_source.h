// TasksSource adds tasks to a source of samples with one class each: the group of the class, and
// the mean of the sample's numbers. For training a model with several heads.
//
// Semantics:     the target is float32 (tasks): class, then group, then mean, if selected. The mean
//                is computed after augmentation.
// Thread safety: any thread.
// Errors:        InvalidInput if samples are not numbers with one class each, or the groups do not
//                match the classes.

#pragma once

#include <memory>
#include <vector>

#include "trireme/data/data_config.h"
#include "trireme/data/source/source.h"

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

// Returns the source itself if it is null or no additional tasks are configured.
std::shared_ptr<const Source> with_tasks(std::shared_ptr<const Source> source,
                                         const DataConfig& config);

}  // namespace trireme::data
