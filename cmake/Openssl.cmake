# OpenSSL, used by trireme/checkpoint/format/openssl. If it is available, the sources of that folder
# are compiled; otherwise only its stub.cpp, whose functions have the same signatures and report
# that OpenSSL is missing. No other code depends on this choice.
# Sets TRIREME_HAS_OPENSSL and TRIREME_PART_OPENSSL, the line that `trireme version` prints.

set(TRIREME_HAS_OPENSSL FALSE)
trireme_sources(openssl_sources checkpoint/format/openssl)
find_package(OpenSSL QUIET COMPONENTS Crypto)
if(OPENSSL_FOUND)
  set(TRIREME_HAS_OPENSSL TRUE)
  set(TRIREME_PART_OPENSSL "on: OpenSSL ${OPENSSL_VERSION}")
  list(FILTER openssl_sources EXCLUDE REGEX "/stub\\.cpp$")
else()
  set(TRIREME_PART_OPENSSL "off: not found (libssl-dev)")
  list(FILTER openssl_sources INCLUDE REGEX "/stub\\.cpp$")
endif()
