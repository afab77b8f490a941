# SPDX-License-Identifier: Apache-2.0
# Finds what the project stands on; where something is missing, one line says what and how to get it.
#
# Under Emscripten the header-only libraries of the machine are linked one by one into a folder of
# the build tree: /usr/include itself on the search path would mix two C libraries.

set(_attn_links "${PROJECT_BINARY_DIR}/include-links")

# attn_headers(TARGET ENTRY HEADER PACKAGE): an interface target for ENTRY (a folder or a file of an
# include folder) that has HEADER.
function(attn_headers target entry header package)
  if(TARGET ${target})
    return()
  endif()
  string(MAKE_C_IDENTIFIER "ATTN_${target}_INCLUDE_DIR" variable)
  find_path(${variable} "${header}" PATHS /usr/include /usr/local/include NO_CMAKE_FIND_ROOT_PATH)
  mark_as_advanced(${variable})
  if(NOT ${variable})
    message(FATAL_ERROR
      "${header} was not found: run tools/setup.sh, or install ${package} (Debian's name)")
  endif()
  set(folder "${${variable}}")
  if(EMSCRIPTEN)
    file(MAKE_DIRECTORY "${_attn_links}")
    file(CREATE_LINK "${folder}/${entry}" "${_attn_links}/${entry}" SYMBOLIC)
    set(folder "${_attn_links}")
  endif()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE "${folder}")
endfunction()

# Highway natively needs its library: the CPU detection lives there. On WebAssembly there is one
# target only and its headers suffice.
if(EMSCRIPTEN)
  attn_headers(hwy::hwy hwy hwy/highway.h libhwy-dev)
else()
  find_package(hwy 1.1 CONFIG QUIET)
  if(NOT hwy_FOUND)
    message(FATAL_ERROR "Highway 1.1 or newer was not found: run tools/setup.sh, or install "
      "libhwy-dev (Debian 13's; Debian 12's is too old)")
  endif()
endif()

attn_headers(attn_xsimd xsimd xsimd/xsimd.hpp libxsimd-dev)

if(ATTN_BUILD_TESTS)
  attn_headers(attn_doctest doctest doctest/doctest.h doctest-dev)
endif()

if(ATTN_BUILD_CLI OR ATTN_BUILD_BENCH OR ATTN_BUILD_TESTS)
  attn_headers(attn_json nlohmann nlohmann/json.hpp nlohmann-json3-dev)
  # The compiled library where there is one: header-only, each file that formats takes half as long
  # again to compile (12.7 s beside 8.2 s for cli/backends.cc).
  attn_headers(attn_fmt fmt fmt/format.h libfmt-dev)
  find_library(ATTN_FMT_LIBRARY fmt)
  mark_as_advanced(ATTN_FMT_LIBRARY)
  if(ATTN_FMT_LIBRARY AND NOT EMSCRIPTEN)
    target_link_libraries(attn_fmt INTERFACE ${ATTN_FMT_LIBRARY})
  else()
    target_compile_definitions(attn_fmt INTERFACE FMT_HEADER_ONLY)
  endif()
endif()

if(ATTN_BUILD_CLI)
  attn_headers(attn_cli11 CLI CLI/CLI.hpp libcli11-dev)
  if(NOT EMSCRIPTEN)
    find_package(Threads REQUIRED)
    attn_headers(attn_httplib httplib.h httplib.h libcpp-httplib-dev)
    # Debian compiles cpp-httplib into a shared library with these three switched on, and its
    # classes change their layout with them; elsewhere it is header-only.
    find_library(ATTN_HTTPLIB_LIBRARY cpp-httplib)
    mark_as_advanced(ATTN_HTTPLIB_LIBRARY)
    if(ATTN_HTTPLIB_LIBRARY)
      target_compile_definitions(attn_httplib INTERFACE
        CPPHTTPLIB_OPENSSL_SUPPORT CPPHTTPLIB_ZLIB_SUPPORT CPPHTTPLIB_BROTLI_SUPPORT)
      target_link_libraries(attn_httplib INTERFACE ${ATTN_HTTPLIB_LIBRARY})
    endif()
    target_link_libraries(attn_httplib INTERFACE Threads::Threads)
  endif()
endif()
