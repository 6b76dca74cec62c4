// Goal:   WAV files become spectrograms as torch computes them, augmented for training according to
//         their key; damaged files are named.
// Method: sounds generated here; torch's stft and an explicit mel scale; every length of a
//         truncated file.

#include "trireme/data/audio/audio_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <set>

#include "tests/data/audio/write_wav.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/data/audio/spectrogram.h"
#include "trireme/data/audio/wav.h"
#include "trireme/data/order/sampling.h"
#include "trireme/testing/code_of.h"

namespace trireme::data::audio {
namespace {

using testing::code_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Sound tone(std::size_t count, double pitch) {
  Sound sound{.rate = 8000};
  for (std::size_t i = 0; i < count; ++i) {
    sound.samples.push_back(static_cast<float>(0.5 * std::sin(pitch * static_cast<double>(i))));
  }
  return sound;
}

TEST(WavFiles, AreReadAsTheyWereWritten) {
  const Sound sound{.rate = 8000, .samples = {0, 0.5F, -1, 0.25F}};
  const Bytes bytes = write_wav(sound);
  const Sound read = read_wav(bytes);
  EXPECT_EQ(read.rate, 8000);
  EXPECT_THAT(read.samples, ElementsAre(0, 0.5F, -1, 0.25F));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(code_of([&] { read_wav(ByteView(bytes).first(size)); }), ErrorCode::Corrupt) << size;
  }
  Bytes packed = bytes;
  packed[20] = std::byte{2};
  EXPECT_EQ(code_of([&] { read_wav(packed); }), ErrorCode::Unsupported);
  // Two channels of 24 bits, and of 8, averaged; a chunk of odd size before them.
  ByteWriter two;
  two.append(bytes_of("RIFF")).put(std::uint32_t{0}).append(bytes_of("WAVEjunk"));
  two.put(std::uint32_t{1}).put('x').put('\0').append(bytes_of("fmt ")).put(std::uint32_t{16});
  two.put(std::uint16_t{1}).put(std::uint16_t{2}).put(std::uint32_t{100}).put(std::uint32_t{600});
  two.put(std::uint16_t{6}).put(std::uint16_t{24}).append(bytes_of("data")).put(std::uint32_t{6});
  two.append(from_hex("0000400000c0"));  // one half, and minus one half
  EXPECT_THAT(read_wav(two.bytes()).samples, ElementsAre(0));
}

TEST(WavFiles, PlayFaster) {
  EXPECT_THAT(hurried({0, 1, 2, 3, 4}, 2, 9), ElementsAre(0, 2, 4));
  EXPECT_THAT(hurried({0, 1, 2}, 0.5, 9), ElementsAre(0, 0.5F, 1, 1.5F, 2));
  EXPECT_THAT(hurried({0, 1, 2}, 1e-9, 3), ::testing::SizeIs(3));
  EXPECT_TRUE(hurried({}, 2, 9).empty());
}

TEST(SpectrogramOfASound, IsThatOfTorch) {
  const Sound sound = tone(700, 0.9);
  const Spectrogram spectrogram({.rate = 8000, .window = 200, .hop = 80, .bands = 7});
  ASSERT_EQ(spectrogram.times(700), 6);
  const at::Tensor ours = torch::empty({7, 6});
  spectrogram.draw(sound.samples, ours.mutable_data_ptr<float>());
  const at::Tensor x = torch::tensor(sound.samples);
  const at::Tensor power =
      at::stft(x, 256, 80, 200, torch::hann_window(200), false, true, true).abs().square();
  const auto mel = [](double f) { return 2595 * std::log10(1 + f / 700); };
  at::Tensor bands = torch::zeros({7, 129});
  const auto edge = [&](int i) { return 700 * (std::pow(10, mel(4000) * i / 8 / 2595) - 1); };
  for (int band = 0; band < 7; ++band) {
    for (int bin = 0; bin < 129; ++bin) {
      const double f = 4000.0 * bin / 128;
      const double up = (f - edge(band)) / (edge(band + 1) - edge(band));
      const double down = (edge(band + 2) - f) / (edge(band + 2) - edge(band + 1));
      bands[band][bin] = std::max(0.0, std::min(up, down));
    }
  }
  EXPECT_TRUE(ours.allclose((bands.mm(power) + 1e-6).log(), 1e-3, 1e-3));
  EXPECT_EQ(spectrogram.times(255), 0);
}

// The strongest band at a time.
std::int64_t loudest(const at::Tensor& picture, std::int64_t time) {
  return picture.select(1, time).argmax().item<std::int64_t>();
}

TEST(SpectrogramOfASound, IsHigherAndNoShorter) {
  const Spectrogram spectrogram({.rate = 8000, .window = 256, .hop = 80, .bands = 24});
  const auto draw = [&](const Sound& sound, double pitch) {
    at::Tensor picture = torch::empty({24, spectrogram.times(std::ssize(sound.samples))});
    spectrogram.draw(sound.samples, picture.mutable_data_ptr<float>(), pitch);
    return picture;
  };
  // Sound only in the first half.
  Sound low = tone(1600, 0.5), high = tone(1600, 0.75);
  for (std::size_t i = 800; i < 1600; ++i) low.samples[i] = high.samples[i] = 0;
  const at::Tensor raised = draw(low, 1.5), plain = draw(low, 1), wanted = draw(high, 1);
  EXPECT_TRUE(draw(low, 1).equal(plain));
  ASSERT_NE(loudest(plain, 2), loudest(wanted, 2));
  EXPECT_EQ(loudest(raised, 2), loudest(wanted, 2));
  EXPECT_EQ(loudest(draw(high, 1 / 1.5), 2), loudest(plain, 2));
  // The same duration: silent at the same times.
  const at::Tensor is_silent = plain.amax(0).lt(-10);
  EXPECT_TRUE(is_silent.any().item<bool>() && !is_silent.all().item<bool>());
  EXPECT_TRUE(raised.amax(0).lt(-10).equal(is_silent));
  // The same loudness, except for what the triangle of a band leaves out.
  EXPECT_NEAR(raised.exp().sum().item<double>() / wanted.exp().sum().item<double>(), 1, 0.2);
  EXPECT_THROW(draw(low, 0), Error);
}

TEST(FoldersOfSounds, AreHigherOrLowerForTraining) {
  const TemporaryFolder folder("pitches");
  std::filesystem::create_directories(folder.path() / "a");
  write_file_atomically(folder.path() / "a/1.wav", write_wav(tone(1600, 0.5)));
  const Sets sets = open_audio({.train = folder.path(),
                                .test = folder.path(),
                                .rate = 8000,
                                .seconds = 0.2,
                                .window = 256,
                                .hop = 80,
                                .bands = 24,
                                .pitch = 12});
  std::set<std::int64_t> heard, as_it_is;
  for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
    const auto read = [&](const Source& source) {
      at::Tensor picture = torch::empty({24, sets.train->form().input_sizes[2]});
      std::int64_t label = -1;
      source.read(0, {.seed = 1, .epoch = epoch}, picture.data_ptr(), &label);
      return loudest(picture, 3);
    };
    heard.insert(read(*sets.train));
    as_it_is.insert(read(*sets.test));
  }
  ASSERT_EQ(as_it_is.size(), 1U);
  EXPECT_GT(heard.size(), 3U);
  EXPECT_LT(*heard.begin(), *as_it_is.begin());
  EXPECT_GT(*heard.rbegin(), *as_it_is.begin());
}

TEST(FoldersOfSounds, AreClassesAndChangeWhileTraining) {
  const TemporaryFolder folder("sounds");
  for (const char* name : {"high/1.wav", "low/1.wav", "low/2.wav"}) {
    std::filesystem::create_directories((folder.path() / name).parent_path());
    write_file_atomically(folder.path() / name, write_wav(tone(900, *name == 'h' ? 2.0 : 0.3)));
  }
  AudioConfig config{.train = folder.path(),
                     .test = folder.path(),
                     .rate = 8000,
                     .seconds = 0.1,
                     .window = 200,
                     .hop = 80,
                     .bands = 6,
                     .speed = 0.1,
                     .shift = 0.2,
                     .noise = 0.01,
                     .freq_mask = 2,
                     .time_mask = 2};
  const Sets sets = open_audio(config);
  EXPECT_THAT(sets.train->form().class_names, ElementsAre("high", "low"));
  EXPECT_THAT(sets.train->form().input_sizes, ElementsAre(1, 6, 7));
  const auto read = [](const Source& source, std::int64_t sample, std::int64_t epoch) {
    at::Tensor picture = torch::empty({6, 7});
    std::int64_t label = -1;
    source.read(sample, {.seed = 1, .epoch = epoch, .sample = sample}, picture.data_ptr(), &label);
    EXPECT_EQ(label, sample == 0 ? 0 : 1);
    return picture;
  };
  EXPECT_TRUE(read(*sets.train, 1, 0).equal(read(*sets.train, 1, 0)));
  EXPECT_FALSE(read(*sets.train, 1, 0).equal(read(*sets.train, 1, 1)));
  EXPECT_TRUE(read(*sets.test, 1, 0).equal(read(*sets.test, 1, 1)));
  EXPECT_FALSE(read(*sets.test, 0, 0).equal(read(*sets.test, 1, 0)));
  // Evaluation samples in cross-validation are not augmented either.
  const auto fold = divided(open_audio(config), {.folds = 2}).test;
  EXPECT_TRUE(fold->form().input_sizes == sets.test->form().input_sizes);
  const auto of_fold = [&](std::int64_t epoch) {
    at::Tensor picture = torch::empty({6, 7});
    std::int64_t label = -1;
    fold->read(0, {.seed = 1, .epoch = epoch, .sample = 0}, picture.data_ptr(), &label);
    return picture;
  };
  EXPECT_TRUE(of_fold(0).equal(of_fold(1)));
  write_file_atomically(folder.path() / "low/3.wav", "none");
  try {
    read(*open_audio(config).train, 3, 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("low/3.wav: at byte 0: no WAV file"));
  }
  config.seconds = 0.01;
  EXPECT_EQ(code_of([&] { open_audio(config); }), ErrorCode::InvalidInput);
}

}  // namespace
}  // namespace trireme::data::audio
