# SPDX-License-Identifier: GPL-2.0-only
# Flags of `make fuzz`: the library is compiled once, instrumented for libFuzzer.

include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS "-fsanitize=fuzzer,address,undefined")
check_cxx_source_compiles(
  "#include <cstddef>
   #include <cstdint>
   extern \"C\" int LLVMFuzzerTestOneInput(const uint8_t*, size_t) { return 0; }"
  FEDERATED_HAS_FUZZER
)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT FEDERATED_HAS_FUZZER)
  message(FATAL_ERROR "Fuzzing needs clang++ with libFuzzer and AddressSanitizer (Debian: clang, "
                      "libclang-rt-dev), and ${CMAKE_CXX_COMPILER} has not both."
  )
endif()

add_compile_options(
  -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
  -fno-omit-frame-pointer
)
add_link_options(-fsanitize=address,undefined)

# What no harness reaches is not compiled, a quarter of the sources. A harness that needs more than
# this does not link.
function(federated_filter_sources sources)
  list(FILTER ${sources} EXCLUDE REGEX "^helper/|^model/(theory|energy)/|lenet|lte-|wifi-link")
  list(FILTER ${sources} EXCLUDE REGEX "^model/privacy/.*(inversion|audit|lbfgs|image|sheet)")
  set(${sources}
      ${${sources}} helper/federated-command-line.cc helper/federated-json.cc
      helper/federated-output-file.cc helper/federated-ranks.cc helper/federated-result-line.cc
      helper/federated-trace-files.cc
      PARENT_SCOPE
  )
endfunction()
