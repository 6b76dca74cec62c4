// Form is what every sample of a source looks like: sizes and types of its input and its target,
// and what the targets stand for. Models are sized from it and batches allocated from it.
//
// Threads: a value.

#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trireme::data::tokenizer {
class Tokenizer;
}  // namespace trireme::data::tokenizer

namespace trireme::data {

// One of several things that is asked of a sample.
struct TaskForm {
  std::string name;
  std::int64_t classes = 0;  // 0: a number

  std::int64_t outputs() const noexcept { return classes > 0 ? classes : 1; }
};

// GCC warns of designated initialisers that leave out a member without one of its own.
// NOLINTBEGIN(readability-redundant-member-init)
struct Form {
  std::vector<std::int64_t> input_sizes = {};  // of one sample: (C, H, W), (T), (features)
  at::ScalarType input_type = at::kFloat;
  std::vector<std::int64_t> target_sizes = {};  // empty: one number a sample
  at::ScalarType target_type = at::kLong;
  // Classes, or tokens of the vocabulary; 0 where targets are numbers to be predicted.
  std::int64_t classes = 0;
  // What class i is called: names, or of text the characters. Empty where nobody said.
  std::vector<std::string> class_names = {};
  // What turns a text into such inputs, where they are tokens of one; null elsewhere.
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer = nullptr;
  // The token after which another document begins, where attention ends there; -1: nowhere.
  std::int64_t document_end = -1;
  // Where several things are asked of each sample, what they are: the target is then float32
  // (tasks), a class as its number, and `classes` is 0. Empty elsewhere.
  std::vector<TaskForm> tasks = {};

  std::int64_t input_count() const noexcept { return product(input_sizes); }
  std::int64_t target_count() const noexcept { return product(target_sizes); }
  std::size_t input_bytes() const noexcept {
    return static_cast<std::size_t>(input_count()) * c10::elementSize(input_type);
  }
  std::size_t target_bytes() const noexcept {
    return static_cast<std::size_t>(target_count()) * c10::elementSize(target_type);
  }
  // Rows of tokens, each with the next one as its target.
  bool is_text() const noexcept {
    return input_type == at::kLong && target_sizes.size() == 1 && classes > 0;
  }
  // (C, H, W) of float32.
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
