#include "trireme/train/evaluate/generation.h"

#include <ATen/ops/tensor.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <sstream>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/text/utf8.h"
#include "trireme/data/tokenizer/tokenizer.h"
#include "trireme/model/layer/key_value_cache.h"

namespace trireme::train {
namespace {

at::Tensor row_of(std::span<const std::int64_t> tokens) {
  return at::tensor(at::ArrayRef<std::int64_t>(tokens.data(), tokens.size()), at::kLong)
      .unsqueeze(0);
}

// A logit of -inf excludes its token, as long as another token remains.
void refuse_broken(std::span<const float> logits) {
  bool has_any = false;
  for (const float logit : logits) {
    if (std::isnan(logit) || logit == INFINITY) {
      throw Error(ErrorCode::Diverged,
                  "the model's outputs are not finite: its weights diverged in training, or "
                  "overflow; try an earlier --checkpoint");
    }
    has_any = has_any || std::isfinite(logit);
  }
  if (!has_any) throw Error(ErrorCode::Diverged, "all logits of the model are -inf");
}

}  // namespace

Sampler::Sampler(const SamplerOptions& options) : options_(options), random_(options.seed) {
  TRIREME_CHECK(options.temperature >= 0 && std::isfinite(options.temperature), "a temperature of ",
                options.temperature);
  TRIREME_CHECK(options.top_k >= 0, "the ", options.top_k, " likeliest");
  TRIREME_CHECK(options.top_p >= 0 && options.top_p <= 1, "a share of ", options.top_p);
}

std::int64_t Sampler::draw(std::span<const float> logits) {
  TRIREME_CHECK(!logits.empty(), "nothing to draw from");
  refuse_broken(logits);
  if (options_.temperature == 0) {
    return std::max_element(logits.begin(), logits.end()) - logits.begin();
  }
  std::vector<std::int64_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  const auto likelier = [&](std::int64_t a, std::int64_t b) {
    const float left = logits[static_cast<std::size_t>(a)];
    const float right = logits[static_cast<std::size_t>(b)];
    return left != right ? left > right : a < b;
  };
  std::sort(tokens.begin(), tokens.end(), likelier);
  if (options_.top_k > 0 && options_.top_k < static_cast<std::int64_t>(tokens.size())) {
    tokens.resize(static_cast<std::size_t>(options_.top_k));
  }

  const double most = logits[static_cast<std::size_t>(tokens[0])];
  std::vector<double> weights;
  double whole = 0;
  for (const std::int64_t token : tokens) {
    const double logit = logits[static_cast<std::size_t>(token)];
    weights.push_back(std::exp((logit - most) / options_.temperature));
    whole += weights.back();
  }
  // Top-p: the first token is kept, whatever its probability.
  double kept = 0;
  std::size_t count = 0;
  while (count < tokens.size() && (count == 0 || kept < options_.top_p * whole)) {
    kept += weights[count++];
  }

  double at = random_.uniform_double() * kept;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    at -= weights[i];
    if (at < 0) return tokens[i];
  }
  return tokens[count - 1];
}

void generate(model::Model& model, const GenerationOptions& options,
              const std::function<bool(std::int64_t)>& take) {
  TRIREME_CHECK(!options.prompt.empty(), "generation requires a prompt of at least one token");
  const c10::InferenceMode guard;
  model.eval();
  const at::Device device = model::device_of(model);
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
        model.forward(row_of(std::span(text).subspan(seen)).to(device), context).select(0, 0);
    seen = text.size();
    const at::Tensor last = logits.select(0, -1).to(at::kCPU, at::kFloat).contiguous();
    const std::int64_t token =
        sampler.draw({last.const_data_ptr<float>(), static_cast<std::size_t>(last.numel())});
    text.push_back(token);
    if (!take(token)) break;
  }
  model.train();
}

std::vector<std::int64_t> Vocabulary::encode(const std::string& text) const {
  if (tokenizer_) {
    const std::vector<data::tokenizer::Token> tokens = tokenizer_->encode(text);
    return {tokens.begin(), tokens.end()};
  }
  return is_text() ? named(text) : numbered(text);
}

std::vector<std::int64_t> Vocabulary::numbered(const std::string& text) const {
  std::vector<std::int64_t> tokens;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    std::int64_t token = -1;
    const char* end = word.data() + word.size();
    const auto read = std::from_chars(word.data(), end, token);
    if (read.ec != std::errc() || read.ptr != end || token < 0 || token >= classes_) {
      throw Error(ErrorCode::InvalidInput,
                  "'" + word + "' is not a token: the tokens of these data are numbers from 0 to " +
                      std::to_string(classes_ - 1) + ", separated by blanks");
    }
    tokens.push_back(token);
  }
  return tokens;
}

std::vector<std::int64_t> Vocabulary::named(const std::string& text) const {
  std::vector<std::int64_t> tokens;
  for (std::size_t at = 0; at < text.size();) {
    // Names may have several bytes; the longest one that matches here is used.
    std::size_t best = names_.size();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::string& name = names_[i];
      if (!name.empty() && text.compare(at, name.size(), name) == 0 &&
          (best == names_.size() || name.size() > names_[best].size())) {
        best = i;
      }
    }
    if (best == names_.size()) {
      const std::size_t size = utf8_length(std::string_view(text).substr(at));
      throw Error(
          ErrorCode::InvalidInput,
          "the character '" + text.substr(at, std::max<std::size_t>(size, 1)) +
              "' is not in the vocabulary that the model was trained with. Remove or "
              "replace it, or train a model with data.unit = \"byte\" or a tokenizer, which "
              "read every character");
    }
    tokens.push_back(static_cast<std::int64_t>(best));
    at += names_[best].size();
  }
  return tokens;
}

// The end of a line, if the data have one, so that the text begins with a new line.
std::vector<std::int64_t> Vocabulary::beginning() const {
  const auto found = std::find(names_.begin(), names_.end(), "\n");
  return {found == names_.end() ? 0 : found - names_.begin()};
}

std::string Vocabulary::decode(std::int64_t token) const {
  if (!is_text()) return std::to_string(token);
  const auto index = static_cast<std::size_t>(token);
  return index < names_.size() ? names_[index] : "<" + std::to_string(token) + ">";
}

}  // namespace trireme::train
