# SPDX-License-Identifier: Apache-2.0
# Run at every build: writes OUT with the commit and the flags; leaves an unchanged file alone, so
# that nothing is compiled again. -DSOURCE= -DOUT= -DFLAGS=
cmake_minimum_required(VERSION 3.25)
find_program(GIT git)
set(commit "unknown")
if(GIT)
  execute_process(
    COMMAND "${GIT}" --no-optional-locks -C "${SOURCE}" describe --always --abbrev=12 --dirty --exclude=*
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit "${described}")
  endif()
endif()
string(REGEX REPLACE " +" " " FLAGS "${FLAGS}")
string(REPLACE "\"" "\\\"" FLAGS "${FLAGS}")
string(STRIP "${FLAGS}" FLAGS)
file(CONFIGURE OUTPUT "${OUT}" CONTENT
"// Written by build_info.cmake.
#define ATTN_BENCH_COMMIT \"${commit}\"
#define ATTN_BENCH_FLAGS \"${FLAGS}\"
")
