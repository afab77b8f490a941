# SPDX-License-Identifier: Apache-2.0
# How every target of this project is compiled, and where its programs land.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()

# The two presets whose programs a person runs (release, wasm) share build/bin. A build folder
# elsewhere keeps its programs to itself.
cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${PROJECT_BINARY_DIR}" NORMALIZE _attn_inside)
if(ATTN_SHARED_BIN AND _attn_inside)
  set(ATTN_PROGRAM_DIR "${PROJECT_SOURCE_DIR}/build/bin")
else()
  set(ATTN_PROGRAM_DIR "${PROJECT_BINARY_DIR}/bin")
endif()

# Left out, and why:
#  -Wmissing-field-initializers (of -Wextra): complains about designated initializers that leave a
#    default in place, which is what defaults are for;
#  -Wsign-conversion: every index is a signed 64-bit number, and the conversions to the standard
#    library's size_t would drown the code in casts;
#  -Wrestrict of g++: version 12 takes "text" + string for a copy of overlapping memory (GCC bug
#    105651).
add_library(attn_warnings INTERFACE)
target_compile_options(attn_warnings INTERFACE
  $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-Wall -Wextra -Wconversion -Wshadow
    -Wnon-virtual-dtor -Wold-style-cast -Wimplicit-fallthrough
    -Wno-sign-conversion -Wno-missing-field-initializers>
  $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wno-pass-failed>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${ATTN_WARNINGS_AS_ERRORS}>:-Werror>)

# What the kernels' files are compiled with in every build. Loops that should be unrolled say so
# (ATTN_UNROLL); what a compiler unrolls beyond them costs 40 % of the compile time and of the code.
set(ATTN_KERNEL_OPTIONS -O2 -fno-unroll-loops)

add_library(attn_sanitizers INTERFACE)
if(ATTN_SANITIZE)
  target_compile_options(attn_sanitizers INTERFACE
    -fsanitize=${ATTN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1 -O1)
  target_link_options(attn_sanitizers INTERFACE -fsanitize=${ATTN_SANITIZE})
endif()

# WebAssembly: 128-bit vectors everywhere; memory that threads share only where asked (an engine need
# not have it). Exceptions are the engine's own (Emscripten's emulation through JavaScript costs a call
# at every place that may throw); the library itself is compiled without any.
add_library(attn_platform INTERFACE)
if(EMSCRIPTEN)
  target_compile_options(attn_platform INTERFACE
    -msimd128 $<$<BOOL:${ATTN_SHARED_MEMORY}>:-sSHARED_MEMORY>)
endif()

# attn_relaxed(TARGET SOURCES...): an object library of what relaxed SIMD (fused multiply-add) changes.
# Linked before a static library, its objects stand in for the same files there.
function(attn_relaxed target)
  add_library(${target} OBJECT ${ARGN})
  attn_target(${target})
  target_compile_options(${target} PRIVATE -mrelaxed-simd)
endfunction()

# attn_target(TARGET): warnings, sanitizers and the platform's flags. Nothing of it is exported.
function(attn_target target)
  target_link_libraries(${target} PRIVATE
    $<BUILD_INTERFACE:attn_warnings> $<BUILD_INTERFACE:attn_sanitizers>
    $<BUILD_INTERFACE:attn_platform>)
endfunction()

# attn_program(TARGET ENVIRONMENTS): the same for a program with exceptions. Under Emscripten it is a
# .mjs for those environments (node,web,worker) that `node FILE.mjs ARGUMENTS` starts.
function(attn_program target environments)
  attn_target(${target})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${ATTN_PROGRAM_DIR}")
  if(EMSCRIPTEN)
    set_target_properties(${target} PROPERTIES SUFFIX ".mjs")
    target_compile_options(${target} PRIVATE -fwasm-exceptions)
    # -O1: Binaryen's further passes take 25 s a program; attention forward is as fast without them.
    target_link_options(${target} PRIVATE
      -O1 -fwasm-exceptions -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sSTACK_SIZE=1MB
      -sEXIT_RUNTIME -sMODULARIZE -sEXPORT_ES6 -sENVIRONMENT=${environments}
      "SHELL:--extern-post-js ${PROJECT_SOURCE_DIR}/tools/cmake/start_in_node.js")
    set_property(TARGET ${target} APPEND PROPERTY
      LINK_DEPENDS "${PROJECT_SOURCE_DIR}/tools/cmake/start_in_node.js")
  endif()
endfunction()

# attn_relaxed_program(TARGET ENVIRONMENTS OBJECTS...): TARGET_relaxed, the same program with those object
# libraries before it.
function(attn_relaxed_program target environments)
  set(relaxed ${target}_relaxed)
  add_executable(${relaxed} $<TARGET_OBJECTS:${target}>)
  attn_program(${relaxed} ${environments})
  foreach(objects IN LISTS ARGN)
    target_sources(${relaxed} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
  get_target_property(libraries ${target} LINK_LIBRARIES)
  target_link_libraries(${relaxed} PRIVATE ${libraries})
endfunction()

# attn_in_batches(TARGET): its files are compiled fifteen at a time, which reads each header once for all
# of them: the command line in 34 s of one thread instead of 80, with its headers precompiled 44. Files
# with options of their own stay alone.
function(attn_in_batches target)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${ATTN_BATCHES} UNITY_BUILD_MODE BATCH UNITY_BUILD_BATCH_SIZE 15)
  if(ATTN_BATCHES)
    # It takes the files of a batch for headers.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()
