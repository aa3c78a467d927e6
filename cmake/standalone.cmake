# Builds the module against an installed ns-3 (Debian: libns3-dev): defines build_lib() and
# build_lib_example() with the arguments that ns-3's own macros take, and the lib<module> variables.

option(FEDERATED_NATIVE "Compile for the processor of this machine (-march=native)" ON)
option(FEDERATED_WERROR "Treat warnings as errors" OFF)
option(FEDERATED_PRECOMPILE "Compile common headers once" ON)
set(FEDERATED_SANITIZE "" CACHE STRING
    "Sanitizer: empty, address (with undefined), thread, or fuzzer (address, and only fuzz/)"
)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")

include(cmake/installed-ns3.cmake)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

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
elseif(FEDERATED_SANITIZE STREQUAL "fuzzer")
  include(cmake/fuzzer.cmake)
elseif(FEDERATED_SANITIZE)
  message(FATAL_ERROR "FEDERATED_SANITIZE is '${FEDERATED_SANITIZE}', not address, thread or fuzzer")
endif()

set(federated_include ${CMAKE_BINARY_DIR}/include)
enable_testing()

# ns3/<name>-module.h, which includes all headers of the module, as ns-3's own build makes it.
function(write_module_header name headers)
  set(text "// All headers of the module ${name}; made by its build.\n#pragma once\n")
  foreach(header ${headers})
    get_filename_component(file ${header} NAME)
    string(APPEND text "#include \"ns3/${file}\"\n")
  endforeach()
  file(GENERATE OUTPUT ${federated_include}/ns3/${name}-module.h CONTENT "${text}")
endfunction()

# find_package(<name>), with CMAKE_PREFIX_PATH at the build folder or at an installed prefix.
function(export_package name)
  set(place ${CMAKE_INSTALL_LIBDIR}/cmake/${name})
  set(folder ${CMAKE_BINARY_DIR}/lib/cmake/${name})
  file(STRINGS model/base/federated-version.h version REGEX "^#define FEDERATED_VERSION ")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" version "${version}")
  configure_package_config_file(
    cmake/${name}-config.cmake.in ${folder}/${name}-config.cmake INSTALL_DESTINATION ${place}
    NO_SET_AND_CHECK_MACRO
  )
  write_basic_package_version_file(
    ${folder}/${name}-config-version.cmake VERSION ${version} COMPATIBILITY SameMinorVersion
  )
  file(COPY cmake/installed-ns3.cmake DESTINATION ${folder})
  install(TARGETS ${name} EXPORT ${name}-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  export(EXPORT ${name}-targets NAMESPACE ${name}:: FILE ${folder}/${name}-targets.cmake)
  install(EXPORT ${name}-targets NAMESPACE ${name}:: DESTINATION ${place})
  install(FILES ${folder}/${name}-config.cmake ${folder}/${name}-config-version.cmake
                cmake/installed-ns3.cmake DESTINATION ${place}
  )
  install(FILES ${LIB_HEADER_FILES} ${federated_include}/ns3/${name}-module.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ns3
  )
endfunction()

# Each FOLDER/NAME.cc is a script with all modules of ns-3: build/KIND/NAME, all of them the target
# KIND. The scripts of users are in scratch, those of the documentation in doc/tutorial.
function(build_scripts name kind folder)
  add_custom_target(${kind})
  file(GLOB scripts CONFIGURE_DEPENDS ${folder}/*.cc)
  foreach(script ${scripts})
    get_filename_component(program ${script} NAME_WE)
    add_executable(${kind}-${program} ${script})
    target_link_libraries(${kind}-${program} PRIVATE ${name} ${ns3_targets})
    set_target_properties(
      ${kind}-${program} PROPERTIES OUTPUT_NAME ${program}
                                    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${kind}
    )
    add_dependencies(${kind} ${kind}-${program})
  endforeach()
endfunction()

# What the documentation says is built, run and compared with the library.
function(check_documents name)
  build_scripts(${name} tutorial doc/tutorial)
  add_executable(list-attributes tools/list-attributes.cc)
  target_link_libraries(list-attributes PRIVATE ${name})
  add_test(
    NAME attributes-of-the-documentation
    COMMAND list-attributes --check ${CMAKE_CURRENT_SOURCE_DIR}/doc/tables/attributes.rst
  )
  foreach(page tutorial capture)
    add_test(NAME documented-${page} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test/tools/documents
                                             test_${page}.py ${CMAKE_BINARY_DIR}
    )
    set_tests_properties(documented-${page} PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
endfunction()

function(build_lib)
  cmake_parse_arguments(
    LIB "" "LIBNAME" "SOURCE_FILES;HEADER_FILES;LIBRARIES_TO_LINK;TEST_SOURCES" ${ARGN}
  )
  file(MAKE_DIRECTORY ${federated_include}/ns3)
  foreach(header ${LIB_HEADER_FILES})
    get_filename_component(name ${header} NAME)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${header} ${federated_include}/ns3/${name} SYMBOLIC)
  endforeach()
  write_module_header(${LIB_LIBNAME} "${LIB_HEADER_FILES}")
  if(FEDERATED_SANITIZE STREQUAL "fuzzer")
    federated_filter_sources(LIB_SOURCE_FILES)
  endif()
  add_library(${LIB_LIBNAME} SHARED ${LIB_SOURCE_FILES})
  # Not numerics, and half of it attributes: at -O3 these files take twice the time to compile.
  set(setup ${LIB_SOURCE_FILES})
  list(FILTER setup INCLUDE REGEX "^(helper/|model/[^/]*$)")
  set_source_files_properties(${setup} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
  target_compile_features(${LIB_LIBNAME} PUBLIC cxx_std_17)
  if(FEDERATED_PRECOMPILE AND NOT FEDERATED_SANITIZE)
    target_precompile_headers(${LIB_LIBNAME} PRIVATE cmake/precompiled.h)
  endif()
  target_include_directories(
    ${LIB_LIBNAME} PUBLIC $<BUILD_INTERFACE:${federated_include}>
                          $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  )
  target_link_libraries(${LIB_LIBNAME} PUBLIC ${LIB_LIBRARIES_TO_LINK} Eigen3::Eigen)
  # Debian builds ns-3 with logging, which changes the layout of classes.
  target_compile_definitions(
    ${LIB_LIBNAME} PUBLIC NS3_LOG_ENABLE $<$<BOOL:${FEDERATED_SANITIZE}>:NS3_ASSERT_ENABLE>
  )
  # Public: Eigen code compiled with and without AVX must not meet in one program.
  if(FEDERATED_NATIVE)
    target_compile_options(${LIB_LIBNAME} PUBLIC -march=native)
  endif()
  if(FEDERATED_SANITIZE STREQUAL "fuzzer")
    add_subdirectory(fuzz)
    return()
  endif()

  export_package(${LIB_LIBNAME})
  build_scripts(${LIB_LIBNAME} scratch scratch)

  if(LIB_TEST_SOURCES)
    # The tests twice: as a GoogleTest program (ctest), and behind ns-3's test-runner.
    add_library(${LIB_LIBNAME}-test OBJECT ${LIB_TEST_SOURCES})
    target_link_libraries(${LIB_LIBNAME}-test ${LIB_LIBNAME})
    # -O1: tests take two thirds of the time to compile. What they test is the library, at -O3.
    target_compile_options(${LIB_LIBNAME}-test PRIVATE $<$<CONFIG:Release>:-O1>)
    if(FEDERATED_PRECOMPILE AND NOT FEDERATED_SANITIZE)
      target_precompile_headers(${LIB_LIBNAME}-test PRIVATE cmake/precompiled.h <gtest/gtest.h>)
    endif()
    add_executable(test-runner test/standalone/test-runner.cc)
    target_link_libraries(test-runner PRIVATE ${LIB_LIBNAME}-test)
    add_executable(${LIB_LIBNAME}-tests test/standalone/main.cc)
    target_link_libraries(${LIB_LIBNAME}-tests PRIVATE ${LIB_LIBNAME}-test)
    include(GoogleTest)
    gtest_discover_tests(${LIB_LIBNAME}-tests DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
    add_test(NAME ns3-test-runner COMMAND test-runner --suite=${LIB_LIBNAME})
    # All tests run one by one already; this is about the runner. (In a tree ns-3 runs them all.)
    set_tests_properties(ns3-test-runner PROPERTIES ENVIRONMENT GTEST_FILTER=BitPacker*:F*)
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
    if(NOT FEDERATED_SANITIZE) # a script outside is not compiled with a sanitizer
      add_test(NAME a-script-outside-finds-the-package
               COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tools/test-package ${CMAKE_BINARY_DIR}
      )
    endif()
    if(TARGET federated-csma)
      add_test(
        NAME decoder-of-protected-captures
        COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test/tools/decode $<TARGET_FILE:federated-star>
                $<TARGET_FILE:federated-csma> ${CMAKE_CURRENT_SOURCE_DIR}/data/mnist
      )
      set_tests_properties(decoder-of-protected-captures PROPERTIES SKIP_RETURN_CODE 77)
    endif()
    if(TARGET federated-csma AND TARGET federated-wifi AND TARGET federated-lte
       AND NOT FEDERATED_SANITIZE) # the same programs run under it elsewhere
      check_documents(${LIB_LIBNAME})
    endif()
    add_test(NAME campaigns COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/test/tools/run)
    add_test(NAME report-in-a-browser COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tools/test-report)
    set_tests_properties(
      dissector-on-captures-of-an-example
      full-disk-and-busy-files-of-an-example
      rotated-updates-of-examples
      campaigns
      report-in-a-browser
      PROPERTIES SKIP_RETURN_CODE 77
    )
    set_tests_properties(campaigns PROPERTIES COST 100) # the longest one begins first
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
  target_compile_options(${EXAMPLE_NAME} PRIVATE $<$<CONFIG:Release>:-O1>) # scripts, no numerics
  add_dependencies(examples ${EXAMPLE_NAME})
endfunction()
