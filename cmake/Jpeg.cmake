# libjpeg, used by trireme/data/jpeg. If it is available, the sources of that folder are compiled;
# otherwise only its stub.cpp, whose functions have the same signatures and report that libjpeg is
# missing. No other code depends on this choice.
# Sets TRIREME_HAS_JPEG and TRIREME_PART_JPEG, the line that `trireme version` prints.

set(TRIREME_HAS_JPEG FALSE)
set(TRIREME_PART_JPEG "off: without torch nothing uses it")
trireme_sources(jpeg_sources data/jpeg)
if(TRIREME_HAS_TORCH)
  find_package(JPEG QUIET)
  if(JPEG_FOUND)
    # Partial decoding and four-byte pixels require libjpeg-turbo.
    include(CheckCXXSymbolExists)
    set(CMAKE_REQUIRED_LIBRARIES JPEG::JPEG)
    check_cxx_symbol_exists(jpeg_crop_scanline "cstdio;jpeglib.h" TRIREME_JPEG_IS_TURBO)
    unset(CMAKE_REQUIRED_LIBRARIES)
  endif()
  if(JPEG_FOUND AND TRIREME_JPEG_IS_TURBO)
    set(TRIREME_HAS_JPEG TRUE)
    set(TRIREME_PART_JPEG "on: libjpeg ${JPEG_VERSION}")
    list(FILTER jpeg_sources EXCLUDE REGEX "/stub\\.cpp$")
  elseif(JPEG_FOUND)
    set(TRIREME_PART_JPEG "off: libjpeg ${JPEG_VERSION} is not libjpeg-turbo")
  else()
    set(TRIREME_PART_JPEG "off: not found (libjpeg62-turbo-dev)")
  endif()
endif()
if(NOT TRIREME_HAS_JPEG)
  list(FILTER jpeg_sources INCLUDE REGEX "/stub\\.cpp$")
endif()
