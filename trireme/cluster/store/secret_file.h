// SecretFile gives the ranks of one host a common secret if none was configured: the rank that
// serves the store creates the secret in a folder of this user, beside the store's socket.
//
//   <folder>/<name>.secret   64 hexadecimal digits, 0600, held by flock(2) while its creator lives
//   <folder>/<name>.sock
//
// Safety:   the folder must belong to this user alone: a real folder, owned by the user, mode 0700.
//           Any other folder is refused.
// Death:    a secret whose lock is not held belongs to a dead job. Readers ignore it, and the next
//           process that creates a secret removes it and its socket.
// Errors:   InvalidInput for an unsafe folder, Deadline if no process created the secret in time.
// Lifetime: the creator's object removes its file.

#pragma once

#include <string>

#include "trireme/base/deadline.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/net/auth/secret.h"

namespace trireme::cluster {

class SecretFile {
 public:
  // `socket` is the store's path; the secret is created beside it. Removes the files of dead jobs.
  static SecretFile make(const std::string& socket, Deadline deadline);
  // The secret that a live process created for this socket; waits for it.
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
