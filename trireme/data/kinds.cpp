#include "trireme/data/kinds.h"

#include "trireme/data/audio/audio_source.h"
#include "trireme/data/cifar/cifar_source.h"
#include "trireme/data/idx/idx_set.h"
#include "trireme/data/image/folder_source.h"
#include "trireme/data/memory/synthetic_source.h"
#include "trireme/data/sequence/text_source.h"
#include "trireme/data/sequence/token_source.h"
#include "trireme/data/table/table_set.h"

namespace trireme::data {
namespace {

template <class Config>
Inputs predict_pictures(const Config& config, const Preprocessing& known,
                        const std::filesystem::path& path) {
  Form form = known.source;
  // Whether damaged files are skipped in prediction depends on the current settings.
  constexpr bool kCanSkip = requires { config.bad_samples; };
  form.are_bad_samples_skipped = false;
  if constexpr (kCanSkip) form.are_bad_samples_skipped = config.bad_samples == BadSamples::Skip;
  return image::open_pictures_to_predict(std::move(form), kCanSkip, path);
}

// For a kind that learns nothing from its training data.
template <class Config>
auto without_known(std::shared_ptr<const Source> (*open)(const Config&)) {
  return [open](const Config& config, const Preprocessing&) { return open(config); };
}

}  // namespace

void add_kinds(DataRegistry& registry) {
  registry.add<idx::IdxConfig>("idx", "images in IDX files: Fashion-MNIST, MNIST, or your own",
                               {.open = idx::open_idx,
                                .open_test = idx::open_test_idx,
                                .open_inputs = predict_pictures<idx::IdxConfig>});
  registry.add<cifar::CifarConfig>("cifar", "CIFAR-10 or CIFAR-100 in binary files",
                                   {.open = cifar::open_cifar,
                                    .open_test = without_known(cifar::open_test_cifar),
                                    .open_inputs = predict_pictures<cifar::CifarConfig>});
  registry.add<image::FolderConfig>("images", "folders of JPEG and PNG files, one a class",
                                    {.open = image::open_images,
                                     .open_test = image::open_test_images,
                                     .open_inputs = predict_pictures<image::FolderConfig>});
  registry.add<audio::AudioConfig>(
      "audio", "folders of WAV files, one a class, as spectrograms",
      {.open = audio::open_audio, .open_test = audio::open_test_audio});
  registry.add<sequence::TextConfig>(
      "text", "the characters, bytes or tokens of a text file",
      {.open = sequence::open_text, .open_test = sequence::open_test_text});
  registry.add<sequence::TokensConfig>(
      "tokens", "files of tokens, as nanoGPT and llm.c write them",
      {.open = sequence::open_tokens, .open_test = without_known(sequence::open_test_tokens)});
  registry.add<table::CsvConfig>("csv", "columns of a CSV file", table::csv_opener());
  registry.add<table::JsonLinesConfig>("json_lines", "members of the JSON object on each line",
                                       table::json_lines_opener());
  registry.add<memory::SyntheticConfig>("synthetic", "made up from a seed, for trying things out",
                                        memory::open_synthetic);
}

}  // namespace trireme::data
