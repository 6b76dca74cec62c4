#include "trireme/cli/train/worker.h"

#include <stdio.h>
#include <sys/wait.h>

#include <memory>

#include "trireme/base/config/reader.h"
#include "trireme/base/config/schema_json.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/text/shell_word.h"
#include "trireme/cluster/launch/rank/program.h"
#include "trireme/model/hugging_face/pretrained.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBuiltIn = "trireme-worker";

fs::path built_in_worker() {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path() / kBuiltIn;
  if (fs::exists(here)) return here;
  throw Error(ErrorCode::NotFound,
              here.string() +
                  " is not there: this build has no torch, so it trains nothing; "
                  "`make build` makes it, or name a program of your own: --worker");
}

// The output of a program. There is no timeout: the program ends by itself, or the user ends both
// with Ctrl-C.
std::string output_of(const std::string& command, const fs::path& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "re"), pclose);
  if (!pipe) throw system_error(command, errno);
  std::string text;
  char buffer[65536];
  while (const std::size_t size = fread(buffer, 1, sizeof(buffer), pipe.get())) {
    text.append(buffer, size);
    if (text.size() > (std::size_t{16} << 20)) {
      throw Error(ErrorCode::InvalidInput, path.string() + " describes no settings");
    }
  }
  return text;
}

}  // namespace

Worker::Worker(const std::string& name)
    : path_(name.empty() ? built_in_worker() : cluster::launch::find_program(name)) {}

std::string Worker::description() const {
  const fs::path beside = path_.string() + ".json";
  std::error_code error;
  const auto described = fs::last_write_time(beside, error);
  if (!error && described >= fs::last_write_time(path_)) return read_file(beside);
  return output_of(shell_quoted(path_.string()) + " describe", path_);
}

config::Schema Worker::schema() const {
  try {
    return config::schema_from_json(description());
  } catch (const Error& thrown) {
    throw Error(ErrorCode::InvalidInput,
                path_.string() + " is no worker: `" + path_.string() +
                    " describe` did not print its settings (" + thrown.message() +
                    "). Its main() should return trireme::train::run_worker(...)");
  }
}

config::Config RecipeWords::read(const Worker& worker) const {
  const config::Schema schema = worker.schema();
  config::Sources sources{.files = {config::load_config(recipe)}, .overrides = overrides};
  if (const fs::path saved = resumed / "config.toml"; !resumed.empty() && fs::exists(saved)) {
    sources.given = model::settings_of_earlier_run(schema, sources, config::load_config(saved));
  }
  return model::read_with_pretrained(schema, std::move(sources));
}

}  // namespace trireme::cli
