// SecretFile is how ranks of one host that nobody gave a secret come to share one: the rank that
// serves the store makes it, in a folder of this user's, beside the store's socket.
//
//   <folder>/<name>.secret   64 hexadecimal digits, 0600, held by flock(2) while its maker lives
//   <folder>/<name>.sock
//
// Safety:  the folder is ours alone: a real folder, owned by us, mode 0700, or it is refused.
// Death:   a secret that nobody holds is a dead job's. Readers do not take it, and whoever makes
//          the next one removes it and its socket.
// Failure: InvalidInput for an unsafe folder, Deadline for a secret that nobody made in time.
// Lifetime: the maker's object removes its file.

#pragma once

#include <string>

#include "trireme/base/deadline.h"
#include "trireme/base/descriptor.h"
#include "trireme/net/secret.h"

namespace trireme::cluster {

class SecretFile {
 public:
  // `socket` is the store's path; the secret lies beside it. Sweeps what dead jobs left.
  static SecretFile make(const std::string& socket, Deadline deadline);
  // The secret that a living process made for this socket; waits for it.
  static net::Secret find(const std::string& socket, Deadline deadline);

  ~SecretFile();
  SecretFile(SecretFile&&) noexcept = default;
  SecretFile& operator=(SecretFile&&) = delete;

  const net::Secret& secret() const noexcept { return secret_; }

 private:
  SecretFile(std::string path, Descriptor held, net::Secret secret);

  std::string path_;
  Descriptor held_;
  net::Secret secret_;
};

}  // namespace trireme::cluster
