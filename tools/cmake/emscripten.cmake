# SPDX-License-Identifier: Apache-2.0
# Toolchain file of the wasm presets: finds Emscripten's own, the private copy of tools/setup.sh
# first, then the emcc on the path (emsdk).
set(_attn_root "${CMAKE_CURRENT_LIST_DIR}/../../.toolchain/emscripten")
if(NOT EXISTS "${_attn_root}/cmake/Modules/Platform/Emscripten.cmake")
  find_program(_attn_emcc emcc)
  if(NOT _attn_emcc)
    message(FATAL_ERROR "emcc was not found: run tools/setup.sh, or install Emscripten 3.1.50 or newer (emsdk)")
  endif()
  file(REAL_PATH "${_attn_emcc}" _attn_emcc_real)
  cmake_path(GET _attn_emcc_real PARENT_PATH _attn_root)
endif()
cmake_path(NORMAL_PATH _attn_root)
include("${_attn_root}/cmake/Modules/Platform/Emscripten.cmake")
