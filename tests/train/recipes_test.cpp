// Goal:   every recipe that comes with Trireme reads, opens and learns.
// Method: two steps of each, on made-up data in the formats that it reads, with few samples a
// batch;
//         one for a program's own model is left out.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/folders.h"
#include "tests/train/tiny_job.h"
#include "trireme/base/build_info.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/file.h"
#include "trireme/base/random.h"
#include "trireme/base/temporary_folder.h"
#include "trireme/data/audio/wav.h"
#include "trireme/data/jpeg/jpeg.h"
#include "trireme/data/png/png.h"
#include "trireme/train/evaluation.h"

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
  Words words{"train.batch=4", "train.steps=2", "train.threads=1"};
  const std::string text = read_file(recipe.string());
  const auto has = [&](const char* line) { return text.find(line) != std::string::npos; };
  if (has("kind = \"idx\"") || has("kind = \"cifar\"")) {
    words.push_back("data.folder=" + folder.string());
  }
  if (has("kind = \"images\"")) {
    words.push_back("data.train=" + (folder / "pictures").string());
    for (const char* small : {"data.size=[32, 32]", "model.width=8"}) words.emplace_back(small);
  }
  if (has("kind = \"audio\"")) words.push_back("data.train=" + (folder / "words").string());
  if (has("\ntokenizer = ")) {
    words.push_back("data.tokenizer=" + source_folder() +
                    "/tests/data/tokenizer/published/gpt2.json");
    words.emplace_back("data.context=16");
  }
  if (has("\nlora_rank = ")) {
    for (const char* small : {"model.width=24", "model.layers=1"}) words.emplace_back(small);
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
    for (const char* small :
         {"data.context=16", "data.vocabulary=50", "model.width=24", "model.layers=1"}) {
      words.emplace_back(small);
    }
  }
  return words;
}

TEST(RecipesThatCome, LearnInTwoSteps) {
  const TemporaryFolder folder("recipes");
  write_stand_ins(folder.path());
  const Kinds kinds = built_in_kinds();
  int count = 0;
  for (const auto& entry : fs::directory_iterator(source_folder() + "/recipes")) {
    if (entry.path().filename() == "tower.toml") continue;
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

}  // namespace
}  // namespace trireme::train
