// trireme-bench-checkpoint FOLDER JSON: measures the cost of saving during a training of gpt-wide,
// and the speed of loading. Run by `trireme bench checkpoint`.
//
//   stall    save() without a write in progress, compared with a memcpy of the same state
//   every10  steps per second with a checkpoint every 10 steps, compared with none
//   load     written by 4 ranks, read by 3: finds and verifies the newest, then reads a third each
//
// Prints one line per case, and writes one JSON object per case to the file, if it has a name. The
// loaded data is compared with the saved data.

#include <ATen/Parallel.h>
#include <ATen/ops/zeros_like.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include "bench/statistics.h"
#include "bench/train/rank/workload.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/fair_part.h"
#include "trireme/checkpoint/saver.h"
#include "trireme/cli/json_file.h"
#include "trireme/train/job.h"

namespace trireme::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 5;
constexpr int kStepsARound = 20;
constexpr int kStepsASave = 10;
constexpr int kWriters = 4;
constexpr int kReaders = 3;

trireme::train::Job open_wide() {
  const Workload workload = workload_named("gpt-wide");
  const trireme::train::Kinds kinds = kinds_for(workload, /*ranks=*/1);
  std::vector<std::string> settings = workload.settings;
  settings.insert(settings.end(),
                  {"train.global_batch_size=" + std::to_string(workload.batch), "optim.lr=1e-4"});
  return trireme::train::open_job(
      config::read_config(trireme::train::recipe_schema(kinds), {.overrides = settings}), kinds);
}

std::size_t bytes_of_all(const std::vector<checkpoint::Piece>& pieces) {
  std::size_t bytes = 0;
  for (const checkpoint::Piece& piece : pieces) bytes += piece.data.nbytes();
  return bytes;
}

void measure_stall(const checkpoint::State& state, const fs::path& folder, const cli::File& json) {
  checkpoint::Saver saver({.folder = folder, .retention = {.keep_last = 1, .keep_best = 0}});
  std::vector<at::Tensor> copies;
  for (const checkpoint::Piece& piece : state.pieces) copies.push_back(piece.data.clone());
  std::vector<double> stalls, copied;
  for (int round = 0; round < 2 * kRounds; ++round) {
    double begin = now();
    for (std::size_t i = 0; i < copies.size(); ++i) {
      std::memcpy(copies[i].data_ptr(), state.pieces[i].data.data_ptr(), copies[i].nbytes());
    }
    copied.push_back(now() - begin);
    begin = now();
    saver.save(state, round + 1);
    stalls.push_back(now() - begin);
    saver.wait();
  }
  const std::size_t bytes = bytes_of_all(state.pieces);
  const double seconds = median(stalls), ratio = seconds / median(copied);
  const double written = saver.figures().seconds_written / (2 * kRounds);
  std::printf(
      "stall    %.1f ms for %.0f MB, %.2f x a memcpy of it (at most 1.5); written in %.2f s\n",
      seconds * 1e3, static_cast<double>(bytes) / 1e6, ratio, written);
  if (!json) return;
  std::fprintf(json.get(),
               "{\"case\":\"stall\",\"bytes\":%zu,\"seconds\":%.6f,\"memcpy_seconds\":%.6f,"
               "\"ratio\":%.3f,\"written_seconds\":%.6f}\n",
               bytes, seconds, median(copied), ratio, written);
}

double seconds_of_steps(trireme::train::Job& job, checkpoint::Saver* saver, std::int64_t& step) {
  const double begin = now();
  for (int i = 1; i <= kStepsARound; ++i) {
    job.step->run(step++);
    if (saver != nullptr && i % kStepsASave == kStepsASave / 2) {
      saver->save({.pieces = job.gradient_sync().saved().pieces()}, step);
    }
  }
  return now() - begin;
}

// Alternates between both cases, so that other load on the machine affects both. Checkpoints begin
// in the middle of ten steps, so that they are written while steps run; the time of a round
// includes the wait for an unfinished write.
void measure_every_ten(trireme::train::Job& job, const fs::path& folder, const cli::File& json) {
  checkpoint::Saver saver({.folder = folder, .retention = {.keep_last = 1, .keep_best = 0}});
  std::int64_t step = 0;
  for (int i = 0; i < 3; ++i) job.step->run(step++);
  std::vector<double> plain, saving;
  for (int round = 0; round < kRounds; ++round) {
    plain.push_back(seconds_of_steps(job, nullptr, step));
    const double begin = now();
    seconds_of_steps(job, &saver, step);
    saver.wait();
    saving.push_back(now() - begin);
  }
  const double lost = 1 - median(plain) / median(saving);
  const double speed = kStepsARound / median(plain), speed_saving = kStepsARound / median(saving);
  std::printf(
      "every10  %.3f steps per second with a checkpoint every 10, %.3f without: %.1f %% lost (at "
      "most 5)\n",
      speed_saving, speed, lost * 100);
  if (!json) return;
  std::fprintf(json.get(),
               "{\"case\":\"every10\",\"steps_per_second\":%.4f,"
               "\"steps_per_second_saving\":%.4f,\"lost\":%.4f}\n",
               speed, speed_saving, lost);
}

void save_by_four(const checkpoint::State& state, const fs::path& folder) {
  std::vector<std::unique_ptr<checkpoint::Saver>> savers;
  for (int rank = 0; rank < kWriters; ++rank) {
    savers.push_back(std::make_unique<checkpoint::Saver>(checkpoint::Saver::Options{
        .folder = folder, .writers = {.rank = rank, .ranks = kWriters, .tag = "bench"}}));
    savers.back()->save({.pieces = checkpoint::fair_part(state.pieces, rank, kWriters)}, 1);
  }
  for (auto& saver : savers) saver->wait();
}

// Returns whether the loaded data equals the saved data.
bool measure_load(const checkpoint::State& state, const fs::path& folder, const cli::File& json) {
  save_by_four(state, folder);
  std::vector<checkpoint::Piece> out = state.pieces;
  for (checkpoint::Piece& piece : out) piece.data = at::zeros_like(piece.data);
  std::vector<double> found, read;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = now();
    const auto newest = checkpoint::Checkpoint::newest_whole(folder);
    found.push_back(now() - begin);
    std::vector<std::thread> readers;
    for (int rank = 0; rank < kReaders; ++rank) {
      readers.emplace_back([&, rank] {
        const auto own = checkpoint::Checkpoint::open(newest.checkpoint->path());
        for (const checkpoint::Piece& piece : checkpoint::fair_part(out, rank, kReaders)) {
          own.read_into(piece);
        }
      });
    }
    for (std::thread& reader : readers) reader.join();
    read.push_back(now() - begin);
  }
  bool is_right = true;
  for (std::size_t i = 0; i < out.size(); ++i) {
    is_right &= out[i].data.equal(state.pieces[i].data);
  }
  const std::size_t bytes = bytes_of_all(state.pieces);
  const double rate = static_cast<double>(bytes) / median(read);
  std::printf(
      "load     %.2f GB/s, written by %d, checked and read by %d (at least 1); the check took %.0f "
      "ms%s\n",
      rate / 1e9, kWriters, kReaders, median(found) * 1e3, is_right ? "" : "; WRONG BYTES");
  if (!json) return is_right;
  std::fprintf(json.get(),
               "{\"case\":\"load\",\"bytes\":%zu,\"seconds\":%.6f,\"checking_seconds\":%.6f,"
               "\"bytes_per_second\":%.0f,\"is_right\":%s}\n",
               bytes, median(read), median(found), rate, is_right ? "true" : "false");
  return is_right;
}

int run(const fs::path& folder, const std::string& json_path) {
  const cli::File json = cli::open_json(json_path);
  trireme::train::Job job = open_wide();
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  measure_every_ten(job, folder / "every10", json);
  const checkpoint::State state{.pieces = job.gradient_sync().saved().pieces()};
  measure_stall(state, folder / "stall", json);
  return measure_load(state, folder / "load", json) ? 0 : 1;
}

}  // namespace
}  // namespace trireme::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "trireme-bench-checkpoint FOLDER JSON\n");
    return 2;
  }
  try {
    return trireme::bench::run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
