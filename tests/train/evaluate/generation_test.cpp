// Goal:   generation that keeps keys and values writes what a model without memory would, also past
//         its context; texts become tokens and come back; evaluation counts every sample once.
// Method: greedy tokens of a tiny gpt, computed again from the whole text each time; evaluations
//         with batches and ranks that leave remainders.

#include "trireme/train/evaluate/generation.h"

#include "tests/train/tiny_job.h"
#include "trireme/data/sequence/plain_rows.h"
#include "trireme/device/torch/autocast.h"
#include "trireme/train/evaluate/evaluation.h"
#include "trireme/train/module_precision.h"

namespace trireme::train {
namespace {

constexpr std::int64_t kContext = 6;

std::shared_ptr<model::Model> tiny_gpt() {
  const config::Config config = tiny_config("gpt", {});
  const auto model = make_model(config, tiny_kinds(), tiny_kinds().data.open(config).train->form());
  // The first weights say next to nothing: larger ones tell tokens and positions apart.
  const torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  for (auto& parameter : model->parameters()) parameter.copy_(torch::randn_like(parameter));
  return model;
}

std::vector<std::int64_t> generated(model::Model& model, std::int64_t count, int layers) {
  std::vector<std::int64_t> tokens;
  generate(model,
           {.prompt = {1, 2},
            .count = count,
            .context = kContext,
            .layers = layers,
            .sampling = {.temperature = 0}},
           [&](std::int64_t token) {
             tokens.push_back(token);
             return true;
           });
  return tokens;
}

// The same without a cache: everything from the beginning, for every token.
std::vector<std::int64_t> generated_plainly(model::Model& model, std::int64_t count) {
  const torch::NoGradGuard no_grad;
  std::vector<std::int64_t> text{1, 2};
  std::vector<std::int64_t> tokens;
  for (std::int64_t i = 0; i < count; ++i) {
    if (static_cast<std::int64_t>(text.size()) > kContext) {
      text.erase(text.begin(), text.end() - kContext / 2);
    }
    const at::Tensor logits = model.forward(torch::tensor(text).unsqueeze(0), {});
    tokens.push_back(logits.select(1, -1).argmax(-1).item<std::int64_t>());
    text.push_back(tokens.back());
  }
  return tokens;
}

TEST(Generation, WithACacheEqualsWithout) {
  const auto model = tiny_gpt();
  const auto expected = generated_plainly(*model, 30);
  EXPECT_GT(std::set<std::int64_t>(expected.begin(), expected.end()).size(), 1U);
  EXPECT_EQ(generated(*model, 30, 2), expected);
  // Sized by blocks, of which only some are attention.
  EXPECT_EQ(generated(*model, 30, static_cast<int>(model->blocks().size())), expected);
}

TEST(Generation, EndsWhenItsReaderHasEnough) {
  const auto model = tiny_gpt();
  int taken = 0;
  generate(*model, {.prompt = {1}, .count = 100, .context = kContext, .layers = 2, .sampling = {}},
           [&](std::int64_t) { return ++taken < 5; });
  EXPECT_EQ(taken, 5);
  EXPECT_TRUE(generated(*model, 0, 2).empty());
  EXPECT_TRUE(model->is_training());
  {
    const torch::NoGradGuard no_grad;
    model->parameters()[0].fill_(NAN);
  }
  EXPECT_THROW(generated(*model, 1, 2), Error);
  const GenerationOptions nothing{
      .prompt = {}, .count = 1, .context = kContext, .layers = 2, .sampling = {}};
  EXPECT_ANY_THROW(generate(*model, nothing, [](std::int64_t) { return true; }));
}

TEST(Vocabulary, TakesTheLongestNameThatFits) {
  const Vocabulary names(data::Form{.classes = 4, .class_names = {"a", "ab", "\n", "é"}});
  EXPECT_EQ(names.encode("aabé\na"), (std::vector<std::int64_t>{0, 1, 3, 2, 0}));
  EXPECT_EQ(names.decode(3), "é");
  EXPECT_EQ(names.decode(9), "<9>");
  EXPECT_TRUE(names.encode("").empty());
  EXPECT_THROW(names.encode("az"), Error);
}

TEST(Vocabulary, OfBytesIsAllOfThem) {
  const Vocabulary bytes(data::Form{.classes = 256, .class_names = data::sequence::all_bytes()});
  EXPECT_TRUE(bytes.is_text());
  EXPECT_EQ(bytes.encode(std::string("a\0\xff", 3)), (std::vector<std::int64_t>{97, 0, 255}));
  EXPECT_EQ(bytes.decode(255), "\xff");
  EXPECT_EQ(bytes.decode(0), std::string(1, '\0'));
  EXPECT_EQ(bytes.beginning(), (std::vector<std::int64_t>{'\n'}));
}

TEST(Vocabulary, WithoutNamesATokenIsItsNumber) {
  const Vocabulary numbers(data::Form{.classes = 50257});
  EXPECT_FALSE(numbers.is_text());
  EXPECT_EQ(numbers.encode(" 50256 0\n7"), (std::vector<std::int64_t>{50256, 0, 7}));
  EXPECT_EQ(numbers.decode(50256), "50256");
  EXPECT_TRUE(numbers.encode("").empty());
  EXPECT_EQ(numbers.beginning(), (std::vector<std::int64_t>{0}));
  for (const char* wrong : {"50257", "-1", "a", "1,2", "1.5", "99999999999999999999"}) {
    EXPECT_THROW(numbers.encode(wrong), Error) << wrong;
  }
  // A text without lines begins with its first character.
  EXPECT_EQ(Vocabulary(data::Form{.classes = 1, .class_names = {"a"}}).beginning(),
            (std::vector<std::int64_t>{0}));
}

TEST(Evaluation, CountsEverySampleOnceWhateverTheBatchAndTheRanks) {
  const config::Config config = tiny_config("mlp", {});
  const Kinds kinds = tiny_kinds();
  const data::Sets sets = kinds.data.open(config);
  const auto loss = make_loss(config, {}, sets.test->form());
  const auto scores_on = [&](int ranks, std::int64_t batch) {
    auto groups = comm::connect_threads(ranks);
    std::vector<Scores> all(static_cast<std::size_t>(ranks));
    testing::run_rank_threads(ranks, [&](int rank) {
      const auto index = static_cast<std::size_t>(rank);
      const auto model = make_model(config, kinds, sets.test->form());
      all[index] = evaluate(
          *model,
          {.source = sets.test, .loss = loss.get(), .batch = batch, .group = groups[index]});
      EXPECT_TRUE(model->is_training());
    });
    for (const Scores& other : all) EXPECT_EQ(other.counts(), all[0].counts());
    return all[0];
  };
  const Scores whole = scores_on(1, 11);
  EXPECT_EQ(whole.answers(), 11);
  EXPECT_GT(whole.loss(), 0);
  for (const int ranks : {1, 2, 3, 4}) {
    for (const std::int64_t batch : {1, 2, 3, 256}) {
      const Scores scores = scores_on(ranks, batch);
      EXPECT_EQ(scores.matrix(), whole.matrix()) << ranks << " ranks, batch " << batch;
      EXPECT_NEAR(scores.loss(), whole.loss(), 1e-5);
    }
  }
}

TEST(Evaluation, AModelMayHaveMoreOutputsThanThereAreClasses) {
  const config::Config config = tiny_config("gpt", {"model.vocab_size=9"});
  const Kinds kinds = tiny_kinds();
  const data::Sets sets = kinds.data.open(config);
  const auto model = make_model(config, kinds, sets.test->form());
  {
    // Every answer is 8, and the data know 0 to 4: the table's last row is larger than all others.
    const torch::NoGradGuard no_grad;
    for (auto& item : model->named_parameters()) {
      if (item.key() == "transformer.wte.weight") {
        item.value().zero_();
        item.value()[8].fill_(1);
      } else if (item.key() == "transformer.ln_f.bias") {
        item.value().fill_(5);
      }
    }
  }
  const auto loss = make_loss(config, {}, sets.test->form());
  const Scores scores = evaluate(*model, {.source = sets.test, .loss = loss.get(), .batch = 4});
  EXPECT_EQ(scores.answers(), 11 * 6);
  EXPECT_DOUBLE_EQ(scores.accuracy(), 0);
  EXPECT_EQ(scores.matrix(), std::vector<std::int64_t>(25, 0));
  std::int64_t all = 0;
  for (const ClassScore& score : scores.classes()) all += score.count;
  EXPECT_EQ(all, 11 * 6);
}

TEST(Autocast, RunsProductsInSixteenBitsWhileItLives) {
  const at::Tensor a = torch::ones({2, 2});
  for (const auto& [precision, type] :
       {std::pair(Precision::BFloat16, at::kBFloat16), std::pair(Precision::Float16, at::kHalf)}) {
    {
      const Autocast outer(at::kCPU, narrow_type(precision));
      EXPECT_EQ(at::matmul(a, a).scalar_type(), type);
      {
        const Autocast inner(at::kCPU, narrow_type(Precision::Float32));
      }
      EXPECT_EQ(at::matmul(a, a).scalar_type(), type) << "an inner one ended it";
    }
    EXPECT_EQ(at::matmul(a, a).scalar_type(), at::kFloat);
  }
  const Autocast nothing(at::kCPU, narrow_type(Precision::Float32));
  EXPECT_EQ(at::matmul(a, a).scalar_type(), at::kFloat);
}

}  // namespace
}  // namespace trireme::train
