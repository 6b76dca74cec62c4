// Goal:   every recipe that comes with Trireme, or that a document shows, reads, opens and learns.
// Method: two steps of each, on made-up data in the formats that it reads, with few samples per
//         batch; a block of settings without data is only read. The regression that docs/data.md
//         shows is trained to its end.

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "tests/data/audio/write_wav.h"
#include "tests/folders.h"
#include "tests/train/tiny_job.h"
#include "trireme/base/build_info.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/base/random.h"
#include "trireme/data/jpeg/jpeg.h"
#include "trireme/data/png/png.h"
#include "trireme/train/evaluate/evaluation.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

std::string idx_header(std::initializer_list<int> sizes) {
  std::string text{'\0', '\0', '\x08', static_cast<char>(sizes.size())};
  for (const int size : sizes) text += {'\0', '\0', '\0', static_cast<char>(size)};
  return text;
}

std::string random_bytes(std::size_t count, std::uint64_t below) {
  Random random(3);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>(random.below(below));
  return text;
}

// Whether this build can read them.
bool has_pictures() {
  int found = 0;
  for (const base::BuildPart& part : base::build_info().parts) {
    if (part.name == "jpeg" || part.name == "png") found += part.is_on() ? 1 : 0;
  }
  return found == 2;
}

void write_pictures(const fs::path& folder) {
  for (const char* name : {"cat", "dog"}) {
    data::image::Pixels picture{.channels = 3, .height = 40, .width = 36, .bytes = {}};
    for (const char byte : random_bytes(40 * 36 * 3, 256)) {
      picture.bytes.push_back(static_cast<std::uint8_t>(byte));
    }
    fs::create_directories(folder / name);
    write_file_atomically(folder / name / "1.jpg", data::jpeg::encode(picture, 90));
    write_file_atomically(folder / name / "2.png", data::png::encode(picture));
  }
}

std::string houses() {
  std::string text = "rooms,area,town,price\n";
  for (int i = 0; i < 400; ++i) {
    const int rooms = 1 + i % 5, area = 30 + i * 7 % 90, town = i % 3;
    text += std::to_string(rooms) + "," + std::to_string(area) + ",T" + std::to_string(town) + "," +
            std::to_string(50000 + 20000 * rooms + 1500 * area + 40000 * town) + "\n";
  }
  return text;
}

void write_stand_ins(const fs::path& folder) {
  for (const char* part : {"train", "t10k"}) {
    write_file_atomically(folder / (std::string(part) + "-images-idx3-ubyte"),
                          idx_header({8, 28, 28}) + random_bytes(8 * 28 * 28, 256));
    write_file_atomically(folder / (std::string(part) + "-labels-idx1-ubyte"),
                          idx_header({8}) + random_bytes(8, 10));
  }
  std::string text, table = "a,b,c\n", lines;
  for (int i = 0; i < 100; ++i) {
    text += "line " + std::to_string(i) + " of a text.\n";
    table +=
        std::to_string(i % 7) + "," + std::to_string(i % 5) + "," + std::to_string(i % 2) + "\n";
    lines += "{\"a\": " + std::to_string(i % 7) + ", \"b\": \"" + std::to_string(i % 5) +
             "\", \"c\": " + (i % 2 == 0 ? "true" : "false") + "}\n";
  }
  write_file_atomically(folder / "text.txt", text);
  write_file_atomically(folder / "table.csv", table);
  write_file_atomically(folder / "table.jsonl", lines);
  write_file_atomically(folder / "houses.csv", houses());
  std::string tokens;
  for (const char token : random_bytes(200, 50)) tokens += {token, '\0'};
  write_file_atomically(folder / "tokens.bin", tokens);
  for (const char* name : {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4",
                           "data_batch_5", "test_batch"}) {
    write_file_atomically(folder / (std::string(name) + ".bin"), "\x05" + random_bytes(3072, 256));
  }
  for (const char* name : {"no", "yes"}) {
    const data::audio::Sound sound{.rate = 16000, .samples = std::vector<float>(9000, 0.1F)};
    fs::create_directories(folder / "words" / name);
    write_file_atomically(folder / "words" / name / "1.wav", data::audio::write_wav(sound));
  }
  if (has_pictures()) write_pictures(folder / "pictures");
}

Words words_for(const fs::path& recipe, const fs::path& folder) {
  Words words{"train.global_batch_size=4", "train.steps=2", "train.num_threads=1"};
  const std::string text = read_file(recipe.string());
  const auto has = [&](const char* line) { return text.find(line) != std::string::npos; };
  if (has("kind = \"idx\"") || has("kind = \"cifar\"")) {
    words.push_back("data.folder=" + folder.string());
  }
  if (has("kind = \"images\"")) {
    words.push_back("data.train=" + (folder / "pictures").string());
    for (const char* small : {"data.size=[32, 32]", "model.base_channels=8"})
      words.emplace_back(small);
  }
  if (has("kind = \"audio\"")) words.push_back("data.train=" + (folder / "words").string());
  if (has("\ntokenizer = ")) {
    words.push_back("data.tokenizer=" + source_folder() +
                    "/tests/data/tokenizer/published/gpt2.json");
    words.emplace_back("data.seq_len=16");
  }
  if (has("\nlora_rank = ")) {
    for (const char* small : {"model.hidden_size=24", "model.num_layers=1"})
      words.emplace_back(small);
  }
  if (has("\nper_class = ")) words.emplace_back("data.per_class=[4]");
  if (has("kind = \"text\"")) words.push_back("data.file=" + (folder / "text.txt").string());
  if (has("kind = \"csv\"")) {
    words.push_back("data.train=" + (folder / "table.csv").string());
    const bool is_multitask = has("task = \"multitask\"");
    words.emplace_back(is_multitask ? "data.targets=[\"b\", \"c\"]" : "data.targets=[\"c\"]");
    if (is_multitask) words.emplace_back("data.class_targets=[\"c\"]");
  }
  if (has("kind = \"json_lines\"")) {
    words.push_back("data.train=" + (folder / "table.jsonl").string());
    for (const char* more : {"data.targets=[\"c\"]", "data.categories=[\"b\"]"}) {
      words.emplace_back(more);
    }
  }
  if (has("kind = \"tokens\"")) {
    words.push_back("data.train=[\"" + (folder / "tokens.bin").string() + "\"]");
    if (has("\ntest = ")) {
      words.push_back("data.test=[\"" + (folder / "tokens.bin").string() + "\"]");
    }
    for (const char* small :
         {"data.seq_len=16", "data.vocab_size=50", "model.hidden_size=24", "model.num_layers=1"}) {
      words.emplace_back(small);
    }
  }
  if (has("test = \"pictures/test\"")) {
    words.push_back("data.test=" + (folder / "pictures").string());
  }
  return words;
}

TEST(RecipesThatCome, LearnInTwoSteps) {
  const TemporaryFolder folder("recipes");
  write_stand_ins(folder.path());
  const Kinds kinds = built_in_kinds();
  int count = 0;
  for (const auto& entry : fs::directory_iterator(source_folder() + "/recipes")) {
    if (entry.path().filename() == "images_finetune.toml" && !has_pictures()) continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++count;
    const config::Config config = config::read_config(
        recipe_schema(kinds), {.files = {config::load_config(entry.path())},
                               .overrides = words_for(entry.path(), folder.path())});
    Job job = open_job(config, kinds);
    const Weights before = weights_of(*job.model);
    for (std::int64_t step = 0; step < 2; ++step) {
      EXPECT_TRUE(std::isfinite(job.step->run(step).loss));
    }
    EXPECT_GT(distance(weights_of(*job.model), before), 0);
    if (!job.sets.test) continue;
    const Scores scores =
        evaluate(*job.model, {.source = job.sets.test, .loss = job.loss.get(), .batch = 64});
    EXPECT_TRUE(std::isfinite(scores.loss()));
  }
  EXPECT_GE(count, 20);
}

// The blocks of TOML in a document that are not marked as not run.
std::vector<std::string> blocks_in(const std::string& document) {
  std::vector<std::string> all;
  std::string before;
  std::istringstream lines(document);
  bool is_inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (is_inside && line != "```") all.back() += line + "\n";
    if (is_inside && line == "```") is_inside = false;
    if (line == "```toml" && !before.starts_with("<!-- not run:")) {
      is_inside = true;
      all.emplace_back();
    }
    before = line;
  }
  return all;
}

// A block that shows settings of data alone is given a small model.
Words model_for(const std::string& block) {
  const auto has = [&](const char* text) { return block.find(text) != std::string::npos; };
  if (has("[model]")) return {};
  if (has("kind = \"images\"")) return {"model.kind=resnet"};
  if (has("kind = \"tokens\"")) return {"model.kind=gpt", "model.num_heads=2"};
  if (!has("kind = \"text\"")) return {"model.kind=mlp"};
  return {"model.kind=gpt", "model.num_heads=2", "model.hidden_size=24", "model.num_layers=1"};
}

TEST(RecipesInDocuments, ReadAndLearn) {
  const TemporaryFolder folder("documents");
  write_stand_ins(folder.path());
  const Kinds kinds = built_in_kinds();
  const fs::path recipe = folder.path() / "block.toml";
  int read = 0, trained = 0;
  for (const auto& entry : fs::directory_iterator(source_folder() + "/docs")) {
    if (entry.path().extension() != ".md") continue;
    for (const std::string& block : blocks_in(read_file(entry.path()))) {
      SCOPED_TRACE(entry.path().filename().string() + "\n" + block);
      write_file_atomically(recipe, block);
      ++read;
      const bool has_data = block.find("[data]") != std::string::npos;
      const bool can_open = block.find("\"images\"") == std::string::npos || has_pictures();
      Words words = has_data ? model_for(block) : Words{};
      if (has_data) {
        for (const std::string& word : words_for(recipe, folder.path())) words.push_back(word);
      }
      // Here is one rank.
      if (block.find("[parallel]") != std::string::npos) {
        words.insert(words.end(), {"parallel.tensor=1", "parallel.pipe=1"});
      }
      const bool is_of_houses = block.find("houses.csv") != std::string::npos;
      if (is_of_houses) {
        words = {"data.train=" + (folder.path() / "houses.csv").string(), "train.num_threads=1"};
      }
      const config::Config config = config::read_config(
          recipe_schema(kinds), {.files = {config::load_config(recipe)}, .overrides = words});
      if (!has_data || !can_open) continue;
      ++trained;
      Job job = open_job(config, kinds);
      const std::int64_t steps = is_of_houses ? job.steps : 2;
      for (std::int64_t step = 0; step < steps; ++step) {
        EXPECT_TRUE(std::isfinite(job.step->run(step).loss));
      }
      if (!is_of_houses) continue;
      const Scores scores =
          evaluate(*job.model, {.source = job.sets.test, .loss = job.loss.get(), .batch = 64});
      EXPECT_GT(scores.numbers().r2(), 0.9);
      EXPECT_LT(scores.numbers().mean_absolute(), 20000) << "prices are from 115,000 to 310,000";
    }
  }
  EXPECT_GE(read, 10);
  EXPECT_GE(trained, 4);
}

}  // namespace
}  // namespace trireme::train
