# zstd, used by trireme/checkpoint/format/zstd and trireme/codec/zstd. If it is available, the
# sources of these folders are compiled; otherwise only their stub.cpp, whose functions have the
# same signatures and report that zstd is missing. No other code depends on this choice.
# Sets TRIREME_HAS_ZSTD and TRIREME_PART_ZSTD, the line that `trireme version` prints.

set(TRIREME_HAS_ZSTD FALSE)
trireme_sources(zstd_sources checkpoint/format/zstd codec/zstd)
find_path(TRIREME_ZSTD_INCLUDE zstd.h)
find_library(TRIREME_ZSTD_LIBRARY zstd)
mark_as_advanced(TRIREME_ZSTD_INCLUDE TRIREME_ZSTD_LIBRARY)
if(TRIREME_ZSTD_INCLUDE AND TRIREME_ZSTD_LIBRARY)
  file(STRINGS "${TRIREME_ZSTD_INCLUDE}/zstd.h" lines REGEX "define ZSTD_VERSION_(MAJOR|MINOR|RELEASE)")
  string(REGEX REPLACE "[^0-9;]+" "" version "${lines}")
  string(REPLACE ";" "." version "${version}")
  set(TRIREME_HAS_ZSTD TRUE)
  set(TRIREME_PART_ZSTD "on: zstd ${version}")
  list(FILTER zstd_sources EXCLUDE REGEX "/stub\\.cpp$")
else()
  set(TRIREME_PART_ZSTD "off: not found (libzstd-dev)")
  list(FILTER zstd_sources INCLUDE REGEX "/stub\\.cpp$")
endif()
