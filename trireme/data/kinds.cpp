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

void add_kinds(Registry& registry) {
  registry.add<idx::IdxConfig>("idx", "images in IDX files: Fashion-MNIST, MNIST, or your own",
                               idx::open_idx);
  registry.add<cifar::CifarConfig>("cifar", "CIFAR-10 or CIFAR-100 in binary files",
                                   cifar::open_cifar);
  registry.add<image::FolderConfig>("images", "folders of JPEG and PNG files, one a class",
                                    image::open_images);
  registry.add<audio::AudioConfig>("audio", "folders of WAV files, one a class, as spectrograms",
                                   audio::open_audio);
  registry.add<sequence::TextConfig>("text", "the characters, bytes or tokens of a text file",
                                     sequence::open_text);
  registry.add<sequence::TokensConfig>("tokens", "files of tokens, as nanoGPT and llm.c write them",
                                       sequence::open_tokens);
  registry.add<table::CsvConfig>("csv", "columns of a CSV file", table::open_csv);
  registry.add<table::JsonLinesConfig>("json_lines", "members of the JSON object on each line",
                                       table::open_json_lines);
  registry.add<memory::SyntheticConfig>("synthetic", "made up from a seed, for trying things out",
                                        memory::open_synthetic);
}

void add_data_sections(config::Schema& schema) {
  Registry registry;
  add_kinds(registry);
  registry.add_sections(schema);
}

Sets open_data(const config::Config& config) {
  Registry registry;
  add_kinds(registry);
  return registry.open(config);
}

}  // namespace trireme::data
