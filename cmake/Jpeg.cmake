# libjpeg: trireme/data/jpeg. With it that folder's sources are compiled, without it only its stub.cpp,
# which has the same functions and says that there is none. Nobody else asks.
# Sets TRIREME_HAS_JPEG and TRIREME_PART_JPEG, the line that `trireme version` prints.

set(TRIREME_HAS_JPEG FALSE)
set(TRIREME_PART_JPEG "off: without torch nothing uses it")
trireme_sources(jpeg_sources data/jpeg)
if(TRIREME_HAS_TORCH)
  find_package(JPEG QUIET)
  if(JPEG_FOUND)
    # Parts of pictures, and pixels of four bytes: libjpeg-turbo's.
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
