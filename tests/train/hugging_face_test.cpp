// Goal:   a Hugging Face folder sets the model and its weights, in one or several files; settings
//         that contradict it or that our models do not support are refused by name; exported
//         folders are read by us and by `transformers` with the same logits, tokens and texts.
// Method: folders made here from tests/model/gpt2_fixture.safetensors and
//         llama_fixture.safetensors, whose logits `transformers` computed: they must agree within
//         1e-5 of the largest (float32, sums in another order). Where `transformers` is installed,
//         hugging_face.py opens our folders with it and writes some of its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/folders.h"
#include "tests/train/tiny_job.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/hugging_face_weights.h"
#include "trireme/checkpoint/published.h"
#include "trireme/data/tokenizer/files.h"
#include "trireme/model/hugging_face/config_json.h"
#include "trireme/model/hugging_face/pretrained.h"
#include "trireme/model/hugging_face_config.h"
#include "trireme/model/kind/gpt.h"
#include "trireme/model/kind/llama.h"
#include "trireme/model/kind/mlp.h"
#include "trireme/testing/code_of.h"
#include "trireme/testing/command_process.h"
#include "trireme/train/evaluate/generation.h"
#include "trireme/train/hugging_face_export.h"
#include "trireme/train/recipe/pretrained_tokens.h"
#include "trireme/train/recipe/read_recipe.h"
#include "trireme/train/trainer.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

const Json kGpt2{{"model_type", "gpt2"},
                 {"vocab_size", 23},
                 {"n_positions", 16},
                 {"n_embd", 24},
                 {"n_layer", 2},
                 {"n_head", 3},
                 {"torch_dtype", "float32"},
                 {"activation_function", "gelu_new"}};
const Json kLlama{{"model_type", "llama"},
                  {"vocab_size", 23},
                  {"max_position_embeddings", 48},
                  {"hidden_size", 24},
                  {"intermediate_size", 40},
                  {"num_hidden_layers", 2},
                  {"num_attention_heads", 6},
                  {"num_key_value_heads", 2},
                  {"rms_norm_eps", 1e-5},
                  {"rope_theta", 500.0},
                  {"tie_word_embeddings", false},
                  {"rope_scaling",
                   {{"rope_type", "llama3"},
                    {"factor", 4.0},
                    {"low_freq_factor", 1.0},
                    {"high_freq_factor", 4.0},
                    {"original_max_position_embeddings", 16}}}};

class HuggingFace : public ::testing::Test {
 protected:
  // Every other tensor of a fixture in each of two files, with an index.
  void write_folder(const std::string& fixture, const Json& config) {
    const auto source =
        checkpoint::open_tensors(source_folder() + "/tests/model/" + fixture + ".safetensors");
    checkpoint::NamedTensors files[2];
    Json map = Json::object();
    for (const std::string& name : source.names) {
      if (name.starts_with("fixture.")) continue;
      const std::size_t file = map.size() % 2;
      files[file].emplace_back(name, source.read(name));
      map[name] = "model-0000" + std::to_string(file + 1) + "-of-00002.safetensors";
    }
    fs::create_directories(folder());
    checkpoint::write_safetensors(folder() / "model-00001-of-00002.safetensors", files[0]);
    checkpoint::write_safetensors(folder() / "model-00002-of-00002.safetensors", files[1]);
    write_file_atomically(folder() / "model.safetensors.index.json",
                          Json{{"weight_map", map}}.dump());
    write_file_atomically(folder() / "config.json", config.dump());
    tokens_ = source.read("fixture.tokens");
    logits_ = source.read("fixture.logits");
  }
  fs::path folder() const { return folder_.path() / "theirs"; }

  config::Config read(std::vector<std::string> overrides = {}) const {
    const fs::path recipe = folder_.path() / "recipe.toml";
    write_file_atomically(
        recipe,
        "[data]\nkind = \"synthetic\"\ntask = \"tokens\"\nsizes = [16]\n"
        "classes = 23\ncount = 4\ntest_count = 1\n[train]\nglobal_batch_size = 2\nsteps = 1\n");
    overrides.push_back("model.load=" + folder().string());
    return read_recipe(recipe, overrides, built_in_kinds());
  }
  std::string refusal(const std::vector<std::string>& overrides) const {
    try {
      read(overrides);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
      return error.message();
    }
    return "";
  }
  static double distance(model::Model& model, const at::Tensor& tokens, const at::Tensor& wanted) {
    const torch::NoGradGuard no_grad;
    const at::Tensor logits = model.forward(tokens, {});
    return ((logits - wanted).abs().max() / wanted.abs().max()).item<double>();
  }
  double distance(model::Model& model) const { return distance(model, tokens_, logits_); }

  // Writes it as a folder of its own, and reads that again.
  void expect_the_same_again(const Job& job) {
    const fs::path out = folder_.path() / "ours";
    const TrainedModel trained{
        .folder = {}, .config = job.config, .data = job.sets.preprocessing, .model = job.model};
    export_hugging_face(out, trained, checkpoint::published_tensors(*job.model));
    const auto left = checkpoint::open_hugging_face_weights(folder());
    const auto right = checkpoint::open_hugging_face_weights(out);
    EXPECT_EQ(left.names, right.names);
    for (const std::string& name : left.names) {
      EXPECT_TRUE(left.read(name).equal(right.read(name))) << name;
    }
    const auto settings = [](const fs::path& path) {
      std::string all;
      const auto read =
          model::read_hugging_face_config(read_file(path / "config.json"), path.string());
      for (const auto& each : read.settings) all += each.name + "=" + to_toml(each.value) + "\n";
      return read.kind + "\n" + all;
    };
    EXPECT_EQ(settings(folder()), settings(out));
    EXPECT_FALSE(fs::exists(out / "tokenizer.json")) << "these tokens have no texts";
  }

  TemporaryFolder folder_{"hugging-face"};
  at::Tensor tokens_, logits_;
};

TEST_F(HuggingFace, AGpt2FolderSetsTheModelAndGoesOutAgain) {
  write_folder("gpt2_fixture", kGpt2);
  const config::Config config = read();
  EXPECT_EQ(config.kind("model"), "gpt");
  EXPECT_EQ(config.get<model::GptConfig>("model").heads, 3);
  const Job job = open_job(config, built_in_kinds());
  EXPECT_LT(distance(*job.model), 1e-5);
  expect_the_same_again(job);
  // What a saved config.toml says is no contradiction.
  EXPECT_EQ(read({"model.kind=gpt", "model.num_heads=3", "model.max_seq_len=16"}).to_toml(),
            config.to_toml());
  EXPECT_THAT(refusal({"model.num_heads=4", "model.norm_eps=1e-6"}),
              HasSubstr("model.num_heads = 4 (n_head: 3), model.norm_eps = 1e-06 "
                        "(layer_norm_epsilon: 1e-05)"));
  EXPECT_THAT(refusal({"model.kind=gpt", "model.vocab_size=24", "model.max_seq_len=8"}),
              HasSubstr("model.vocab_size = 24 (vocab_size: 23), model.max_seq_len = 8"));
  EXPECT_THAT(refusal({"model.kind=gpt", "model.tie_word_embeddings=false"}),
              HasSubstr("tie_word_embeddings"));
  EXPECT_THAT(refusal({"model.kind=llama"}), HasSubstr("describes a model of kind gpt"));

  // The kind is that of config.json for every message.
  EXPECT_EQ(read({"model.num_heads=3", "model.max_seq_len=16"}).to_toml(), config.to_toml());
  EXPECT_EQ(read({"model.dropout=0.5"}).get<model::GptConfig>("model").dropout, 0.5);
  EXPECT_THAT(refusal({"model.num_kv_heads=1"}),
              HasSubstr("the kind here is \"gpt\" (" + (folder() / "config.json").string() + ")"));

  Json other = kGpt2;
  other["layer_norm_epsilon"] = 0.1;
  write_folder("gpt2_fixture", other);
  EXPECT_GT(distance(*open_job(read(), built_in_kinds()).model), 1e-3) << "another epsilon counts";
}

TEST_F(HuggingFace, ALlamaFolderSetsTheModelAndGoesOutAgain) {
  write_folder("llama_fixture", kLlama);
  const config::Config config = read();
  const Job job = open_job(config, built_in_kinds());
  EXPECT_LT(distance(*job.model), 1e-5);
  expect_the_same_again(job);
  EXPECT_THAT(refusal({"model.num_heads=3", "model.num_kv_heads=3"}),
              HasSubstr("model.num_heads = 3 (num_attention_heads: 6), model.num_kv_heads = 3"));
  EXPECT_THAT(refusal({"model.kind=llama", "model.norm_eps=1e-6"}), HasSubstr("rms_norm_eps"));
  EXPECT_THAT(refusal({"model.kind=llama", "model.rope_theta=10000.0"}), HasSubstr("rope_theta"));
  EXPECT_THAT(refusal({"model.kind=llama", "model.rope_factor=8.0"}), HasSubstr("rope_scaling"));
  EXPECT_THAT(refusal({"model.max_seq_len=64"}), HasSubstr("model.max_seq_len = 64"));
  EXPECT_EQ(read({"model.max_seq_len=40"}).get<model::LlamaConfig>("model").context, 40)
      << "a llama may look at fewer tokens";

  // As newer versions write it.
  Json newer = kLlama;
  newer["rope_parameters"] = newer["rope_scaling"];
  newer["rope_parameters"]["rope_theta"] = 500.0;
  newer.erase("rope_scaling");
  newer.erase("rope_theta");
  write_folder("llama_fixture", newer);
  EXPECT_EQ(read().to_toml(), config.to_toml());
}

// As transformers 4.57 and 5.23 have them.
TEST_F(HuggingFace, AMistralThatLeavesFieldsOutHasMistralsDefaults) {
  const auto read_text = [](const std::string& fields) {
    return model::read_hugging_face_config(R"({"model_type":"mistral")" + fields + "}", "x");
  };
  const auto text_of = [](const model::HuggingFaceConfig& config) {
    std::string all;
    for (const auto& each : config.settings) all += each.name + "=" + to_plain(each.value) + " ";
    return all;
  };
  const model::HuggingFaceConfig bare = read_text("");
  EXPECT_EQ(text_of(bare),
            "vocab_size=32000 max_seq_len=131072 hidden_size=4096 num_layers=32 num_heads=32 "
            "num_kv_heads=8 "
            "intermediate_size=14336 norm_eps=1e-06 tie_word_embeddings=false rope_theta=10000.0 "
            "rope_scaling=none ");
  EXPECT_EQ(bare.window, 4096);
  const auto nulls = read_text(R"(,"num_key_value_heads":null,"sliding_window":null)");
  EXPECT_THAT(text_of(nulls), HasSubstr(" num_kv_heads=32 "));
  EXPECT_EQ(nulls.window, std::nullopt);
  const auto llama = model::read_hugging_face_config(R"({"model_type":"llama"})", "x");
  EXPECT_THAT(text_of(llama),
              HasSubstr("max_seq_len=2048 hidden_size=4096 num_layers=32 num_heads=32 "
                        "num_kv_heads=32 intermediate_size=11008 "));
  EXPECT_EQ(llama.window, std::nullopt);
}

TEST_F(HuggingFace, ASlidingWindowShorterThanTheContextIsRefused) {
  Json mistral = kLlama;
  mistral["model_type"] = "mistral";
  mistral["sliding_window"] = 20;
  write_folder("llama_fixture", mistral);
  const std::string why = refusal({});
  EXPECT_THAT(why, HasSubstr("sliding window of 20 tokens"));
  EXPECT_THAT(why, HasSubstr("model.max_seq_len = 48 is longer. Set model.max_seq_len=20"));
  EXPECT_THAT(refusal({"model.kind=llama", "model.max_seq_len=21"}), HasSubstr("sliding window"));
  EXPECT_EQ(refusal({"model.kind=llama", "model.max_seq_len=20"}), "");
  mistral["sliding_window"] = 48;
  write_folder("llama_fixture", mistral);
  EXPECT_EQ(refusal({}), "");
  mistral.erase("sliding_window");
  mistral["max_position_embeddings"] = 5000;
  write_folder("llama_fixture", mistral);
  EXPECT_THAT(refusal({}), HasSubstr("sliding window of 4096 tokens"));
}

TEST_F(HuggingFace, WhatOurModelsCannotDoTheSameWayIsRefused) {
  const auto code = [](Json config, const char* field, const Json& value) {
    config[field] = value;
    return testing::code_of([&] { model::read_hugging_face_config(config.dump(), "config.json"); });
  };
  for (const auto& [field, value] :
       std::vector<std::pair<const char*, Json>>{{"activation_function", "relu"},
                                                 {"n_inner", 100},
                                                 {"scale_attn_weights", false},
                                                 {"scale_attn_by_inverse_layer_idx", true},
                                                 {"torch_dtype", "int8"},
                                                 {"quantization_config", {{"bits", 4}}},
                                                 {"model_type", "bert"}}) {
    EXPECT_EQ(code(kGpt2, field, value), ErrorCode::Unsupported) << field;
  }
  for (const auto& [field, value] : std::vector<std::pair<const char*, Json>>{
           {"hidden_act", "gelu"},
           {"attention_bias", true},
           {"mlp_bias", true},
           {"head_dim", 8},
           {"rope_scaling", {{"rope_type", "yarn"}, {"factor", 2.0}}},
           {"rope_scaling", {{"type", "dynamic"}, {"factor", 2.0}}}}) {
    EXPECT_EQ(code(kLlama, field, value), ErrorCode::Unsupported) << field;
  }
  for (const char* wrong : {"", "[]", "{}", R"({"model_type":"gpt2","n_embd":"wide"})",
                            R"({"model_type":"gpt2","n_embd":1e30})"}) {
    EXPECT_EQ(testing::code_of([&] { model::read_hugging_face_config(wrong, "x"); }),
              ErrorCode::Corrupt)
        << wrong;
  }
  EXPECT_FALSE(model::hugging_face_config_of(model::Mlp({}, {.input_sizes = {2}, .classes = 2}), {})
                   .has_value());
}

TEST_F(HuggingFace, AnIndexThatDoesNotFitItsFilesIsRefused) {
  write_folder("gpt2_fixture", kGpt2);
  const auto code = [&](const Json& map) {
    write_file_atomically(folder() / "model.safetensors.index.json", map.dump());
    return testing::code_of([&] { checkpoint::open_hugging_face_weights(folder()); });
  };
  const auto only = [](const char* name, const char* file) {
    return Json{{"weight_map", {{name, file}}}};
  };
  EXPECT_EQ(code(only("none", "model-00001-of-00002.safetensors")), ErrorCode::Corrupt);
  EXPECT_EQ(code(only("x", "../theirs/model-00001-of-00002.safetensors")), ErrorCode::Corrupt);
  EXPECT_EQ(code(only("x", "gone.safetensors")), ErrorCode::NotFound);
  EXPECT_EQ(code(Json::array()), ErrorCode::Corrupt);
  fs::remove(folder() / "model.safetensors.index.json");
  EXPECT_FALSE(checkpoint::has_hugging_face_weights(folder()));
}

// A model of random weights with the tokenizer of its data, as a trained job would have it.
TrainedModel made_up(const std::string& kind,
                     const std::shared_ptr<const data::tokenizer::Tokenizer>& tokenizer,
                     std::vector<std::string> names, const std::vector<std::string>& overrides) {
  if (tokenizer) names = tokenizer->texts();
  const data::Form form{.input_sizes = {32},
                        .input_type = at::kLong,
                        .target_sizes = {32},
                        .classes = std::ssize(names),
                        .class_names = names,
                        .tokenizer = tokenizer};
  const Kinds kinds = built_in_kinds();
  std::vector<std::string> all{"model.kind=" + kind, "model.hidden_size=24", "model.num_layers=2",
                               "model.num_heads=6"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  TrainedModel trained{
      .folder = {},
      .config = config::read_config(recipe_schema(kinds), {.files = {}, .overrides = all})};
  trained.data = {.source = form, .form = form};
  trained.model = make_model(trained.config, kinds, form);
  const torch::NoGradGuard no_grad;
  torch::manual_seed(5);
  for (auto& parameter : trained.model->parameters()) {
    parameter.add_(torch::randn_like(parameter) * 0.2);
  }
  return trained;
}

const std::vector<std::string> kTexts = {"the rower's oars", "  two  blanks\n\n\tand tabs ",
                                         "über größere Straße", "三段櫂船は速い。 🚣", "12345 a1"};

TEST_F(HuggingFace, TransformersOpensWhatIsExportedAndWritesWhatIsLoaded) {
  const fs::path published = fs::path(source_folder()) / "tests/data/tokenizer/published";
  const std::vector<std::string> letters = {"\n", " ", "a", "b", "c", "ä"};
  std::map<std::string, TrainedModel> all;
  all.emplace("gpt",
              made_up("gpt", data::tokenizer::open_tokenizer(published / "gpt2.json"), {}, {}));
  all.emplace("plain", made_up("gpt", nullptr, letters, {"model.bias=false"}));
  all.emplace("llama2", made_up("llama", data::tokenizer::open_tokenizer(published / "llama2.json"),
                                {}, {"model.num_kv_heads=2", "model.tie_word_embeddings=true"}));
  all.emplace("llama3",
              made_up("llama", data::tokenizer::open_tokenizer(published / "llama3.json"), {},
                      {"model.rope_scaling=llama3", "model.rope_original_max_seq_len=8"}));
  Json asked = Json::object();
  for (auto& [name, trained] : all) {
    export_hugging_face(folder_.path() / name, trained,
                        checkpoint::published_tensors(*trained.model));
    asked[name] = name == "plain" ? std::vector<std::string>{"abc ä\n b", "  "} : kTexts;
  }
  testing::CommandProcess python(
      {.command = {python_program(), source_folder() + "/tests/train/hugging_face.py",
                   folder_.path().string(), asked.dump()}});
  const int code = python.wait_exit(Deadline::after(std::chrono::minutes(3)));
  if (code == 77) {
    GTEST_SKIP() << "NOT TESTED with transformers: " << python_program() << " has none of it";
  }
  ASSERT_EQ(code, 0) << python.error();
  const Json said = Json::parse(python.out());
  for (auto& [name, trained] : all) {
    const Vocabulary vocabulary(trained.data.form);
    for (std::size_t i = 0; i < asked[name].size(); ++i) {
      const std::string text = asked[name][i];
      EXPECT_EQ(said[name]["tokens"][i], Json(vocabulary.encode(text))) << name << ": " << text;
      EXPECT_EQ(said[name]["texts"][i], text) << name;
    }
    const auto theirs = checkpoint::open_tensors(folder_.path() / (name + ".safetensors"));
    EXPECT_LT(distance(*trained.model, theirs.read("tokens"), theirs.read("logits")), 1e-5) << name;
    std::vector<std::int64_t> written;
    generate(*trained.model,
             {.prompt = {1, 2, 3},
              .count = 12,
              .context = 32,
              .layers = 8,
              .sampling = {.temperature = 0}},
             [&](std::int64_t token) {
               written.push_back(token);
               return true;
             });
    EXPECT_EQ(said[name]["written"], Json(written)) << name;
    // What transformers saved of it, in several files, is the model that was exported.
    const fs::path recipe = folder_.path() / "loaded.toml";
    write_file_atomically(recipe,
                          "[data]\nkind = \"synthetic\"\ntask = \"tokens\"\nsizes = [16]\n"
                          "classes = 5\ncount = 4\ntest_count = 1\n[model]\nload = \"" +
                              (folder_.path() / (name + "-again")).string() + "\"\n");
    const Job job = open_job(read_recipe(recipe, {}, built_in_kinds()), built_in_kinds());
    EXPECT_LT(distance(*job.model, theirs.read("tokens"), theirs.read("logits")), 1e-5) << name;
  }
}

TEST_F(HuggingFace, AFolderThatDoesNotExistIsNamedWithItsSetting) {
  try {
    read({"model.max_seq_len=16"});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::NotFound);
    EXPECT_THAT(error.message(), HasSubstr("model.load: " + folder().string() +
                                           " does not exist. Correct the path"));
  }
  // A recipe may state the kind; then reading the weights fails.
  EXPECT_EQ(testing::code_of([&] { open_job(read({"model.kind=gpt"}), built_in_kinds()); }),
            ErrorCode::NotFound);
}

// Ids of other tokens would mean nothing to the weights.
TEST_F(HuggingFace, TheTokenizerOfTheFolderIsUsedAndNoOther) {
  const fs::path published = fs::path(source_folder()) / "tests/data/tokenizer/published";
  const TrainedModel trained =
      made_up("gpt", data::tokenizer::open_tokenizer(published / "gpt2.json"), {}, {});
  export_hugging_face(folder(), trained, checkpoint::published_tensors(*trained.model));
  const fs::path recipe = folder_.path() / "text.toml";
  write_file_atomically(folder_.path() / "text.txt", read_file(published / "text.txt"));
  write_file_atomically(recipe,
                        "[data]\nkind = \"text\"\nseq_len = 8\nvalidation_fraction = 0\nfile = \"" +
                            (folder_.path() / "text.txt").string() + "\"\n[model]\nload = \"" +
                            folder().string() + "\"\n");
  const auto refusal_of = [&](const std::vector<std::string>& overrides) {
    try {
      open_job(read_recipe(recipe, overrides, built_in_kinds()), built_in_kinds());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
      return error.message();
    }
    return std::string();
  };
  EXPECT_EQ(read_recipe(recipe, {"data.document_end=<|endoftext|>"}, built_in_kinds())
                .setting("data.tokenizer")
                ->value,
            config::Value{folder().string()});
  EXPECT_EQ(refusal_of({}), "");
  const std::string copy = (published / "gpt2.json").string();
  EXPECT_EQ(refusal_of({"data.tokenizer=" + copy}), "") << "the same tokens in another place";
  EXPECT_THAT(refusal_of({"data.tokenizer="}),
              HasSubstr("model.load: the data have other tokens than the model in"));
  EXPECT_THAT(refusal_of({"data.unit=byte"}), HasSubstr("Set data.tokenizer to the tokenizer"));
  EXPECT_EQ(refusal_of({"data.tokenizer=", "model.load_fresh=[\"transformer.wte.weight\"]"}), "")
      << "a new embedding may mean anything";
  fs::remove(folder() / "tokenizer.json");
  EXPECT_THAT(refusal_of({}), HasSubstr("different characters"));
}

// Two texts with the same number of characters, of which one is another: the sizes fit.
TEST_F(HuggingFace, TheCharactersOfAJobAreComparedToo) {
  const fs::path recipe = folder_.path() / "text.toml";
  const auto write = [&](const std::string& words) {
    std::string text;
    for (int i = 0; i < 20; ++i) text += words;
    write_file_atomically(folder_.path() / "text.txt", text);
  };
  write_file_atomically(
      recipe, "[data]\nkind = \"text\"\nseq_len = 4\nvalidation_fraction = 0\nfile = \"" +
                  (folder_.path() / "text.txt").string() +
                  "\"\n[model]\nkind = \"gpt\"\nhidden_size = 8\nnum_layers = 1\nnum_heads = "
                  "2\n[train]\nglobal_batch_size = 4\nsteps = 1\n");
  write("abc ");
  const Kinds kinds = built_in_kinds();
  Job job = open_job(read_recipe(recipe, {}, kinds), kinds);
  Reporter silent({});
  Trainer(job, {.output = folder_.path() / "job", .reporter = &silent}).run();
  const std::string load = "model.load=" + (folder_.path() / "job").string();
  open_job(read_recipe(recipe, {load}, kinds), kinds);
  write_file_atomically(folder_.path() / "job/config.toml", job.config.to_toml());
  const TrainedModel trained = open_trained({.folder = folder_.path() / "job"}, kinds);
  export_hugging_face(folder(), trained, checkpoint::published_tensors(*trained.model));
  const Job exported =
      open_job(read_recipe(recipe, {"model.load=" + folder().string()}, kinds), kinds);
  EXPECT_EQ(exported.sets.train->form().class_names, job.sets.train->form().class_names);
  write("abd ");
  EXPECT_EQ(testing::code_of([&] { open_job(read_recipe(recipe, {load}, kinds), kinds); }),
            ErrorCode::InvalidInput);
}

// The JSON library prints and copies values by recursion.
TEST_F(HuggingFace, FilesThatAreNestedTooDeeplyAreDamaged) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_EQ(testing::code_of([&] {
              model::read_hugging_face_config(
                  R"({"model_type":"gpt2","quantization_config":)" + deep + "}", "config.json");
            }),
            ErrorCode::Corrupt);
  fs::create_directories(folder());
  write_file_atomically(folder() / "model.safetensors.index.json",
                        R"({"weight_map":{},"metadata":)" + deep + "}");
  EXPECT_EQ(testing::code_of([&] { checkpoint::open_hugging_face_weights(folder()); }),
            ErrorCode::Corrupt);
}

// The checkpoint has the weights, and its recipe has the sizes that config.json gave.
TEST_F(HuggingFace, AJobIsResumedWithoutTheFolder) {
  write_folder("gpt2_fixture", kGpt2);
  read();  // writes the recipe
  const auto train = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {build_folder() + "/trireme", "train", (folder_.path() / "recipe.toml").string(),
                 "--output", (folder_.path() / "job").string()});
    testing::CommandProcess process({.command = more, .environment = {{"OMP_NUM_THREADS", "1"}}});
    const int code = process.wait_exit(Deadline::after(std::chrono::minutes(2)));
    return code == 0 ? "" : process.out() + process.error();
  };
  ASSERT_EQ(train({"model.load=" + folder().string()}), "");
  fs::remove_all(folder());
  EXPECT_EQ(train({"model.load=", "train.steps=2", "--resume"}), "");
  EXPECT_EQ(train({"model.load=", "train.steps=3", "--resume"}), "") << "of a job without it";
  EXPECT_THAT(
      train({"model.load=", "train.steps=4", "model.kind=gpt", "model.num_layers=3", "--resume"}),
      HasSubstr("was written with other settings: model.num_layers (2, now 3)"));
  // Without the kind, which the folder said, too.
  EXPECT_THAT(train({"model.load=", "train.steps=4", "model.num_layers=3", "--resume"}),
              HasSubstr("was written with other settings: model.num_layers (2, now 3)"));
  EXPECT_THAT(train({"model.load=" + folder().string(), "model.num_heads=3", "--resume"}),
              HasSubstr("model.load: " + folder().string() + " does not exist"));
}

}  // namespace
}  // namespace trireme::train
