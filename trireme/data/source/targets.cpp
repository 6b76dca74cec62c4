#include "trireme/data/source/targets.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::data {
namespace {

class ReconstructionSource final : public Source {
 public:
  explicit ReconstructionSource(std::shared_ptr<const Source> source)
      : source_(std::move(source)), form_(source_->form()) {
    if (!c10::isFloatingType(form_.input_type)) {
      throw Error(ErrorCode::InvalidInput,
                  "data.target = \"input\" is for samples of numbers, and these are tokens");
    }
    form_.target_sizes = form_.input_sizes;
    form_.target_type = form_.input_type;
    form_.classes = 0;
    form_.class_names.clear();
    form_.target_standards.clear();
    form_.target_spreads.clear();
  }

  std::int64_t count() const override { return source_->count(); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override {
    std::vector<std::byte> label(source_->form().target_bytes());
    source_->read(sample, key, input, label.data());
    std::memcpy(target, input, form_.input_bytes());
  }

 private:
  std::shared_ptr<const Source> source_;
  Form form_;
};

class TasksSource final : public Source {
 public:
  TasksSource(std::shared_ptr<const Source> source, const DataConfig& config)
      : source_(std::move(source)),
        groups_(config.class_groups),
        has_mean_(config.has_input_mean),
        form_(source_->form()) {
    if (form_.classes == 0 || !form_.target_sizes.empty() || form_.target_type != at::kLong ||
        form_.input_type != at::kFloat) {
      throw Error(ErrorCode::InvalidInput,
                  "data.class_groups and data.input_mean are for samples of numbers, of one class "
                  "each and not mixed");
    }
    if (!groups_.empty() && std::ssize(groups_) != form_.classes) {
      throw Error(ErrorCode::InvalidInput,
                  "data.class_groups has " + std::to_string(groups_.size()) +
                      " numbers, and there are " + std::to_string(form_.classes) + " classes");
    }
    form_.tasks = {{"class", form_.classes}};
    if (!groups_.empty()) {
      form_.tasks.push_back({"group", *std::max_element(groups_.begin(), groups_.end()) + 1});
    }
    if (has_mean_) form_.tasks.push_back({"mean", 0});
    form_.target_sizes = {std::ssize(form_.tasks)};
    form_.target_type = at::kFloat;
    form_.classes = 0;
    form_.class_names.clear();
  }

  std::int64_t count() const override { return source_->count(); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override {
    std::int64_t label = 0;
    source_->read(sample, key, input, &label);
    auto* out = static_cast<float*>(target);
    *out++ = static_cast<float>(label);
    if (!groups_.empty()) *out++ = static_cast<float>(groups_[static_cast<std::size_t>(label)]);
    if (!has_mean_) return;
    const auto* const first = static_cast<const float*>(input);
    const std::int64_t count = form_.input_count();
    *out =
        static_cast<float>(std::accumulate(first, first + count, 0.0) / static_cast<double>(count));
  }

 private:
  std::shared_ptr<const Source> source_;
  std::vector<std::int64_t> groups_;
  bool has_mean_;
  Form form_;
};

}  // namespace

std::shared_ptr<const Source> with_targets(std::shared_ptr<const Source> source,
                                           const DataConfig& config) {
  if (source == nullptr) return source;
  if (config.target == Target::Input) {
    source = std::make_shared<ReconstructionSource>(std::move(source));
  }
  return config.has_tasks() ? std::make_shared<TasksSource>(std::move(source), config) : source;
}

}  // namespace trireme::data
