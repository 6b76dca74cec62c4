# OpenSSL: used by trireme/net/tls once that folder exists; absent, there is no TLS.
# Sets TRIREME_HAS_OPENSSL and TRIREME_PART_OPENSSL, the line that `trireme version` prints.

find_package(OpenSSL QUIET)
set(TRIREME_HAS_OPENSSL FALSE)
set(TRIREME_PART_OPENSSL "off: not found (libssl-dev)")
if(OPENSSL_FOUND AND EXISTS "${CMAKE_SOURCE_DIR}/trireme/net/tls")
  set(TRIREME_HAS_OPENSSL TRUE)
  set(TRIREME_PART_OPENSSL "on: ${OPENSSL_VERSION}")
elseif(OPENSSL_FOUND)
  set(TRIREME_PART_OPENSSL "off: found, but nothing uses it yet")
endif()
