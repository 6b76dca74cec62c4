#include "trireme/monitor/metrics_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "trireme/base/error.h"

namespace trireme::monitor {
namespace {

// The number of bytes of the file that are complete lines of steps up to `last_step`.
std::int64_t size_kept(const std::filesystem::path& path, std::int64_t last_step) {
  std::ifstream file(path, std::ios::binary);
  std::int64_t kept = 0;
  std::string line;
  while (std::getline(file, line) && !file.eof()) {
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) break;
    if (json["step"].get<std::int64_t>() > last_step) break;
    kept += static_cast<std::int64_t>(line.size()) + 1;
  }
  return kept;
}

}  // namespace

MetricsFile::MetricsFile(const std::filesystem::path& path, std::int64_t last_step) {
  const std::int64_t kept = last_step < 0 ? 0 : size_kept(path, last_step);
  descriptor_ = Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!descriptor_) throw system_error("opening " + path.string(), errno);
  if (::ftruncate(descriptor_.get(), kept) != 0) {
    throw system_error("cutting " + path.string(), errno);
  }
}

void MetricsFile::write(std::int64_t step, const Record& record) {
  Record line{{"step", step}};
  for (const Record::Field& field : record.fields()) line.add(field);
  const std::string text = line.to_json() + "\n";
  const off_t begin = ::lseek(descriptor_.get(), 0, SEEK_END);
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t count = ::write(descriptor_.get(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      is_broken_ = true;
      // A full disk may have accepted part of the line; remove it so that the next line starts
      // cleanly.
      const bool is_cut = begin >= 0 && ::ftruncate(descriptor_.get(), begin) == 0;
      static_cast<void>(is_cut);
      return;
    }
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace trireme::monitor
