// Form describes the samples of a source: sizes and types of the input and the target, and what the
// targets represent. Models are sized and batches are allocated according to it.
//
// Thread safety: a value type.

#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trireme/data/standard.h"

namespace trireme::data::tokenizer {
class Tokenizer;
}  // namespace trireme::data::tokenizer

namespace trireme::data {

// One of several tasks that are predicted for a sample.
struct TaskForm {
  std::string name;
  std::int64_t classes = 0;  // 0: a number is predicted

  std::int64_t outputs() const noexcept { return classes > 0 ? classes : 1; }
  bool operator==(const TaskForm&) const = default;
};

// GCC warns of designated initialisers that leave out a member without one of its own.
// NOLINTBEGIN(readability-redundant-member-init)

struct Form {
  std::vector<std::int64_t> input_sizes = {};  // of one sample: (C, H, W), (T), (features)
  at::ScalarType input_type = at::kFloat;
  std::vector<std::int64_t> target_sizes = {};  // empty: one number per sample
  at::ScalarType target_type = at::kLong;
  // Number of classes, or vocabulary size; 0 if the targets are numbers (regression).
  std::int64_t classes = 0;
  // Names of the classes, or the characters of a text vocabulary. Empty if unknown.
  std::vector<std::string> class_names = {};
  // Converts text to inputs, if inputs are tokens from a tokenizer; null otherwise.
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer = nullptr;
  // The token that ends a document, if attention is limited to one document; -1 otherwise.
  std::int64_t document_end = -1;
  // The tasks, if each sample has several. The target is then float32 (tasks), with a class stored
  // as its number, and `classes` is 0. Empty otherwise.
  std::vector<TaskForm> tasks = {};
  // How each target was standardized; class targets among the tasks are not. Empty if no target
  // was. Predictions are of standardized targets too: restored() converts them to original units.
  std::vector<Standard> target_standards = {};
  // The standard deviation of each target in the training data, as it is stored here: 1 for a
  // standardized one. The r2 of a training step needs it. Empty if unknown; not saved in
  // checkpoints.
  std::vector<Standard> target_spreads = {};
  // A sample whose file is damaged is left out of its batch instead of failing the job.
  bool are_bad_samples_skipped = false;

  std::int64_t input_count() const noexcept { return product(input_sizes); }
  std::int64_t target_count() const noexcept { return product(target_sizes); }
  std::size_t input_bytes() const noexcept {
    return static_cast<std::size_t>(input_count()) * c10::elementSize(input_type);
  }
  std::size_t target_bytes() const noexcept {
    return static_cast<std::size_t>(target_count()) * c10::elementSize(target_type);
  }
  // Whether samples are rows of tokens, each with the next token as its target.
  bool is_text() const noexcept {
    return input_type == at::kLong && target_sizes.size() == 1 && classes > 0;
  }
  // Whether one or several numbers are predicted.
  bool is_regression() const noexcept {
    return classes == 0 && tasks.empty() && target_sizes.size() <= 1;
  }
  // Whether inputs are (C, H, W) of float32.
  bool is_image() const noexcept { return input_sizes.size() == 3 && input_type == at::kFloat; }

 private:
  static std::int64_t product(const std::vector<std::int64_t>& sizes) noexcept {
    std::int64_t count = 1;
    for (std::int64_t size : sizes) count *= size;
    return count;
  }
};
// NOLINTEND(readability-redundant-member-init)

}  // namespace trireme::data
