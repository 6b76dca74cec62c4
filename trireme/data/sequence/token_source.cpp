#include "trireme/data/sequence/token_source.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/data/sequence/windows.h"

namespace trireme::data::sequence {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const std::vector<fs::path>& paths) {
  std::vector<fs::path> all;
  for (const fs::path& path : paths) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
      all.push_back(path);
      continue;
    }
    std::vector<fs::path> within;
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
      if (entry.path().extension() == ".bin") within.push_back(entry.path());
    }
    if (within.empty()) {
      throw Error(ErrorCode::NotFound, path.string() + " has no .bin files of tokens");
    }
    std::sort(within.begin(), within.end());
    all.insert(all.end(), within.begin(), within.end());
  }
  return all;
}

class TokenSource final : public Source {
 public:
  // A folder is replaced by its .bin files in the order of their names.
  TokenSource(const TokensConfig& config, const std::vector<fs::path>& paths)
      : context_(config.context), stride_(config.stride > 0 ? config.stride : config.context) {
    for (const fs::path& path : files_of(paths)) {
      shards_.emplace_back(path, config.type, config.vocabulary);
      const std::int64_t before = ends_.empty() ? 0 : ends_.back();
      ends_.push_back(before + count_windows(shards_.back().count(), context_, stride_));
    }
    if (count() == 0) {
      throw Error(ErrorCode::InvalidInput,
                  (shards_.empty() ? "data.train" : shards_.front().name()) +
                      ": no file has the data.seq_len + 1 = " + std::to_string(context_ + 1) +
                      " tokens of a sample");
    }
    form_ = {.input_sizes = {context_},
             .input_type = at::kLong,
             .target_sizes = {context_},
             .target_type = at::kLong,
             .classes = config.vocabulary,
             .document_end = config.document_end};
  }

  std::int64_t count() const override { return ends_.empty() ? 0 : ends_.back(); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey&, void* input, void* target) const override {
    TRIREME_CHECK(sample >= 0 && sample < count(), "sample ", sample, " of ", count());
    const auto shard = std::upper_bound(ends_.begin(), ends_.end(), sample) - ends_.begin();
    const auto index = static_cast<std::size_t>(shard);
    const std::int64_t within = sample - (index == 0 ? 0 : ends_[index - 1]);
    const std::int64_t first = within * stride_;
    // The targets are the inputs without the first, followed by the token after the last.
    auto* const from = static_cast<std::int64_t*>(input);
    auto* const to = static_cast<std::int64_t*>(target);
    shards_[index].read(first, context_, from);
    std::copy(from + 1, from + context_, to);
    shards_[index].read(first + context_, 1, to + context_ - 1);
  }

 private:
  std::vector<TokenShard> shards_;
  std::vector<std::int64_t> ends_;  // windows in this shard and all shards before it
  std::int64_t context_;
  std::int64_t stride_;
  Form form_;
};

}  // namespace

Sets open_tokens(const TokensConfig& config) {
  if (config.train.empty()) {
    throw Error(ErrorCode::InvalidInput,
                "data.train: name the .bin files to train on, or the folder that holds them");
  }
  return {.train = std::make_shared<TokenSource>(config, config.train),
          .test = open_test_tokens(config)};
}

std::shared_ptr<const Source> open_test_tokens(const TokensConfig& config) {
  return config.test.empty() ? nullptr : std::make_shared<TokenSource>(config, config.test);
}

void TokensConfig::describe(config::Fields<TokensConfig>& f) {
  f.add("train", &TokensConfig::train)
      .help("files of tokens to train on, or folders whose .bin files are taken by name");
  f.add("test", &TokensConfig::test).help("the same to evaluate on; empty: none");
  f.add("type", &TokensConfig::type)
      .names({{"uint16", TokenType::Uint16}, {"uint32", TokenType::Uint32}})
      .help("type of a token in the files");
  f.add("vocab_size", &TokensConfig::vocabulary)
      .synonyms({"vocabulary"})
      .range(1, std::int64_t{1} << 32)
      .unit("tokens")
      .help("number of tokens; a larger token in a file is an error");
  f.add("seq_len", &TokensConfig::context)
      .synonyms({"context", "block_size", "max_length", "sequence_length"})
      .range(1, std::int64_t{1} << 24)
      .unit("tokens")
      .help("length of a sample's input");
  f.add("stride", &TokensConfig::stride)
      .range(0, std::int64_t{1} << 24)
      .unit("tokens")
      .help("distance from one sample to the next; 0: seq_len");
  f.add("document_end", &TokensConfig::document_end)
      .range(-1, std::int64_t{1} << 32)
      .help("token that ends documents, within which gpt and llama then attend; -1: across them");
  f.require([](const TokensConfig& c) {
    return c.document_end < c.vocabulary
               ? std::string()
               : "document_end = " + std::to_string(c.document_end) +
                     " is not a token: vocab_size = " + std::to_string(c.vocabulary);
  });
}

}  // namespace trireme::data::sequence
