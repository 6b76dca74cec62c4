#include "trireme/cli/starter/look.h"

#include <algorithm>
#include <fstream>

#include "trireme/base/error.h"
#include "trireme/base/text/utf8.h"
#include "trireme/data/source/class_folder.h"

namespace trireme::cli::starter {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTextLook = std::size_t{1} << 20;
// Enough for one sample to validate with, which is of the last tenth.
constexpr std::uintmax_t kTextMin = 2000;

std::string beginning_of(const fs::path& file, std::size_t size) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(ErrorCode::NotFound, file.string() + " cannot be read");
  std::string text(size, '\0');
  in.read(text.data(), static_cast<std::streamsize>(size));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

bool holds_folder(const fs::path& folder, const char* name) {
  return fs::is_directory(folder / name);
}

bool begins_as_utf8(const fs::path& file) {
  const std::string text = beginning_of(file, kTextLook);
  // The beginning of a longer file may end within a character.
  const std::size_t cut_max = text.size() < kTextLook ? 0 : 3;
  for (std::size_t cut = 0; cut <= cut_max; ++cut) {
    if (is_utf8(std::string_view(text).substr(0, text.size() - cut))) return true;
  }
  return false;
}

}  // namespace

Task guess_task(const fs::path& data) {
  if (fs::is_directory(data)) return Task::Images;
  if (!fs::is_regular_file(data)) {
    throw Error(ErrorCode::NotFound, data.string() + ": there is no such file or folder");
  }
  if (data::has_ending(data, {".csv", ".tsv", ".jsonl", ".ndjson"})) return Task::Tabular;
  return Task::Text;
}

ImagesLook look_at_images(const fs::path& folder) {
  ImagesLook look{.train = folder};
  if (holds_folder(folder, "train")) {
    look.train = folder / "train";
    for (const char* name : {"test", "val", "valid", "validation"}) {
      if (look.test.empty() && holds_folder(folder, name)) look.test = folder / name;
    }
  }
  const data::ClassFolder classes = data::list_classes(look.train, {".jpg", ".jpeg", ".png"});
  look.classes = classes.classes.size();
  look.files = classes.files.size();
  if (look.classes < 2) {
    throw Error(ErrorCode::InvalidInput, look.train.string() +
                                             " has one folder of pictures; a class is a folder, "
                                             "and there must be two or more");
  }
  return look;
}

TextLook look_at_text(const fs::path& file) {
  TextLook look{.bytes = fs::file_size(file)};
  if (look.bytes < kTextMin) {
    throw Error(ErrorCode::InvalidInput, file.string() + " has " + std::to_string(look.bytes) +
                                             " bytes, too few to learn a language from");
  }
  look.is_utf8 = begins_as_utf8(file);
  return look;
}

}  // namespace trireme::cli::starter
