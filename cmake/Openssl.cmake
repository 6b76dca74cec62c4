# OpenSSL: trireme/net/tls, once that folder exists; without it there is no TLS.
# Sets TRIREME_HAS_OPENSSL and TRIREME_PART_OPENSSL, the line that `trireme version` prints.

set(TRIREME_HAS_OPENSSL FALSE)
set(TRIREME_PART_OPENSSL "off: nothing uses it yet")
if(EXISTS "${PROJECT_SOURCE_DIR}/trireme/net/tls")
  find_package(OpenSSL QUIET)
  if(OPENSSL_FOUND)
    set(TRIREME_HAS_OPENSSL TRUE)
    set(TRIREME_PART_OPENSSL "on: OpenSSL ${OPENSSL_VERSION}")
  else()
    set(TRIREME_PART_OPENSSL "off: not found (libssl-dev)")
  endif()
endif()
