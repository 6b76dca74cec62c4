#include "trireme/cli/store_option.h"

#include "trireme/base/error.h"
#include "trireme/cluster/store/etcd/place.h"

namespace trireme::cli {

std::string set_store(std::string& store, const std::string& text) {
  try {
    if (!cluster::etcd::Place::parse(text).job.empty()) {
      return "--store " + text + ": the job's name is added by itself; end it with the port";
    }
  } catch (const Error& error) {
    return "--store " + error.message();
  }
  store = text;
  return {};
}

}  // namespace trireme::cli
