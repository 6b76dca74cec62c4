#include "trireme/train/generation.h"

#include <ATen/ops/tensor.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/model/key_value_cache.h"

namespace trireme::train {
namespace {

at::Tensor row_of(std::span<const std::int64_t> tokens) {
  return at::tensor(at::ArrayRef<std::int64_t>(tokens.data(), tokens.size()), at::kLong)
      .unsqueeze(0);
}

}  // namespace

void generate(model::Model& model, const GenerationOptions& options,
              const std::function<bool(std::int64_t)>& take) {
  TRIREME_CHECK(!options.prompt.empty(), "generation needs a token to begin with");
  const c10::InferenceMode guard;
  model.eval();
  Sampler sampler(options.sampling);
  model::KeyValueCache cache({.layers = options.layers, .capacity = options.context});
  const model::Context context{.cache = &cache};
  std::vector<std::int64_t> text = options.prompt;
  std::size_t seen = 0;
  for (std::int64_t i = 0; i < options.count; ++i) {
    if (static_cast<std::int64_t>(text.size()) > options.context) {
      text.erase(text.begin(), text.end() - std::max<std::int64_t>(options.context / 2, 1));
      cache.clear();
      seen = 0;
    }
    const at::Tensor logits =
        model.forward(row_of(std::span(text).subspan(seen)), context).to(at::kFloat).select(0, 0);
    seen = text.size();
    const at::Tensor last = logits.select(0, -1).contiguous();
    const std::int64_t token =
        sampler.draw({last.const_data_ptr<float>(), static_cast<std::size_t>(last.numel())});
    text.push_back(token);
    if (!take(token)) break;
  }
  model.train();
}

std::vector<std::int64_t> Vocabulary::encode(const std::string& text) const {
  std::vector<std::int64_t> tokens;
  if (names_.empty()) {
    for (const char byte : text) tokens.push_back(static_cast<unsigned char>(byte));
    return tokens;
  }
  for (std::size_t at = 0; at < text.size();) {
    // Names may have several bytes: of those that fit here, the longest.
    std::size_t best = names_.size();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::string& name = names_[i];
      if (!name.empty() && text.compare(at, name.size(), name) == 0 &&
          (best == names_.size() || name.size() > names_[best].size())) {
        best = i;
      }
    }
    if (best == names_.size()) {
      throw Error(ErrorCode::InvalidInput,
                  "the model has never seen what begins with '" + text.substr(at, 1) + "'");
    }
    tokens.push_back(static_cast<std::int64_t>(best));
    at += names_[best].size();
  }
  return tokens;
}

std::string Vocabulary::decode(std::int64_t token) const {
  if (names_.empty()) return {static_cast<char>(token)};
  const auto index = static_cast<std::size_t>(token);
  return index < names_.size() ? names_[index] : "<" + std::to_string(token) + ">";
}

}  // namespace trireme::train
