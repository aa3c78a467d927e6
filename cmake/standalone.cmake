# Builds the module against an installed ns-3 (Debian: libns3-dev): defines build_lib() and
# build_lib_example() with the arguments that ns-3's own macros take, and the lib<module> variables.

option(FEDERATED_NATIVE "Compile for the processor of this machine (-march=native)" ON)
option(FEDERATED_WERROR "Treat warnings as errors" OFF)
set(FEDERATED_SANITIZE "" CACHE STRING "Sanitizer: empty, address (with undefined) or thread")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")

find_package(ns3 REQUIRED)
if(ns3_VERSION VERSION_LESS 3.35)
  message(FATAL_ERROR "federated needs ns-3.35 or later, found ${ns3_VERSION}")
endif()

# Debian's exported targets name libraries whose -dev packages libns3-dev does not pull in, and
# system include directories, which must not be repeated: they would come before the compiler's own.
get_property(ns3_targets DIRECTORY PROPERTY IMPORTED_TARGETS)
list(FILTER ns3_targets INCLUDE REGEX "^ns3::")
foreach(target ${ns3_targets})
  # ns3::libcore up to ns-3.42, ns3::core later: both become the variable libcore.
  string(REGEX REPLACE "^ns3::(lib)?" "" module ${target})
  set(lib${module} ${target})
  foreach(property INTERFACE_LINK_LIBRARIES INTERFACE_INCLUDE_DIRECTORIES)
    get_target_property(entries ${target} ${property})
    set(kept)
    foreach(entry ${entries})
      if(entry MATCHES "^/usr(/include.*)?$")
        continue()
      endif()
      if(NOT IS_ABSOLUTE "${entry}" OR EXISTS "${entry}")
        list(APPEND kept "${entry}")
      endif()
    endforeach()
    set_target_properties(${target} PROPERTIES ${property} "${kept}")
  endforeach()
endforeach()

# Debian builds ns-3 with logging, which changes the layout of classes.
add_compile_definitions(NS3_LOG_ENABLE)
add_compile_options(-Wall -Wextra)
# GCC 12's own AVX-512 intrinsics, which Eigen calls, read variables that are "undefined" by intent:
# on a processor that has AVX-512 it warns of them (GCC bug 105593, mended in GCC 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-maybe-uninitialized -Wno-uninitialized)
endif()
if(FEDERATED_WERROR)
  add_compile_options(-Werror)
endif()
if(FEDERATED_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -g)
  add_link_options(-fsanitize=address,undefined)
elseif(FEDERATED_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -g)
  add_link_options(-fsanitize=thread)
elseif(FEDERATED_SANITIZE)
  message(FATAL_ERROR "FEDERATED_SANITIZE is '${FEDERATED_SANITIZE}', not address or thread")
endif()

if(FEDERATED_SANITIZE)
  add_compile_definitions(NS3_ASSERT_ENABLE)
endif()

set(federated_include ${CMAKE_BINARY_DIR}/include)
enable_testing()

function(build_lib)
  cmake_parse_arguments(
    LIB "" "LIBNAME" "SOURCE_FILES;HEADER_FILES;LIBRARIES_TO_LINK;TEST_SOURCES" ${ARGN}
  )
  file(MAKE_DIRECTORY ${federated_include}/ns3)
  foreach(header ${LIB_HEADER_FILES})
    get_filename_component(name ${header} NAME)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${header} ${federated_include}/ns3/${name} SYMBOLIC)
  endforeach()
  add_library(${LIB_LIBNAME} SHARED ${LIB_SOURCE_FILES})
  target_include_directories(${LIB_LIBNAME} PUBLIC ${federated_include})
  target_link_libraries(${LIB_LIBNAME} PUBLIC ${LIB_LIBRARIES_TO_LINK})
  # Public: Eigen code compiled with and without AVX must not meet in one program.
  if(FEDERATED_NATIVE)
    target_compile_options(${LIB_LIBNAME} PUBLIC -march=native)
  endif()

  if(LIB_TEST_SOURCES)
    # The tests twice: as a GoogleTest program (ctest), and behind ns-3's test-runner.
    add_library(${LIB_LIBNAME}-test OBJECT ${LIB_TEST_SOURCES})
    target_link_libraries(${LIB_LIBNAME}-test ${LIB_LIBNAME})
    add_executable(test-runner test/standalone/test-runner.cc)
    target_link_libraries(test-runner PRIVATE ${LIB_LIBNAME}-test)
    add_executable(${LIB_LIBNAME}-tests test/standalone/main.cc)
    target_link_libraries(${LIB_LIBNAME}-tests PRIVATE ${LIB_LIBNAME}-test)
    include(GoogleTest)
    gtest_discover_tests(${LIB_LIBNAME}-tests DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
    add_test(NAME ns3-test-runner COMMAND test-runner --suite=${LIB_LIBNAME})
    if(FEDERATED_SANITIZE)
      # The tests have run slowly once; this is about the runner.
      set_tests_properties(ns3-test-runner PROPERTIES ENVIRONMENT GTEST_FILTER=BitPacker*:Fusion*)
    endif()
  endif()
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/examples/CMakeLists.txt)
    add_subdirectory(examples)
    add_test(
      NAME dissector-on-captures-of-an-example
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tools/wireshark/test-example
              $<TARGET_FILE:federated-star> ${CMAKE_CURRENT_SOURCE_DIR}/data/mnist
    )
    add_test(
      NAME full-disk-and-busy-files-of-an-example
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tools/test-output $<TARGET_FILE:federated-star>
              ${CMAKE_CURRENT_SOURCE_DIR}/data/mnist
    )
    add_test(
      NAME rotated-updates-of-examples
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tools/test-rotation $<TARGET_FILE:federated-star>
              $<TARGET_FILE:federated-paper> ${CMAKE_CURRENT_SOURCE_DIR}/data/mnist
    )
    add_test(NAME plots-and-studies COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tools/test-plots)
    add_test(NAME campaigns COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test/tools/run)
    set_tests_properties(
      dissector-on-captures-of-an-example
      full-disk-and-busy-files-of-an-example
      rotated-updates-of-examples
      plots-and-studies
      campaigns
      PROPERTIES SKIP_RETURN_CODE 77
    )
  endif()
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/bench/CMakeLists.txt)
    add_subdirectory(bench)
  endif()
endfunction()

set(libfederated federated)
add_custom_target(examples)

function(build_lib_example)
  cmake_parse_arguments(EXAMPLE "" "NAME" "SOURCE_FILES;LIBRARIES_TO_LINK" ${ARGN})
  add_executable(${EXAMPLE_NAME} ${EXAMPLE_SOURCE_FILES})
  target_link_libraries(${EXAMPLE_NAME} PRIVATE ${EXAMPLE_LIBRARIES_TO_LINK})
  add_dependencies(examples ${EXAMPLE_NAME})
endfunction()
