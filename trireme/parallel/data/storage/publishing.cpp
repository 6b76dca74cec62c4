#include "trireme/parallel/data/storage/publishing.h"

#include <chrono>

namespace trireme::parallel::data {

void Publishing::finish(std::size_t bucket) {
  Work& work = works_[bucket];
  if (auto* plain = std::get_if<comm::Work>(&work)) plain->wait();
  if (auto* tensor = std::get_if<comm::TensorWork>(&work)) tensor->wait();
  work = std::monostate();
}

void Publishing::finish() {
  for (std::size_t b = 0; b < works_.size(); ++b) finish(b);
}

void Publishing::forget() {
  for (Work& work : works_) work = std::monostate();
}

void Publishing::reach(std::size_t block, model::PassDirection pass) {
  if (pass == model::PassDirection::Backward || block >= needs_.size()) return;
  for (const std::size_t bucket : needs_[block]) {
    if (std::holds_alternative<std::monostate>(works_[bucket])) continue;
    const auto begin = std::chrono::steady_clock::now();
    finish(bucket);
    waited_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
}

}  // namespace trireme::parallel::data
