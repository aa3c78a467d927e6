# Finds an installed ns-3 and mends its exported targets, for this build and for every project that
# finds this module: the variables lib<module> and the definitions of ns-3's own headers.

find_package(ns3 REQUIRED)
if(ns3_VERSION VERSION_LESS 3.35)
  message(FATAL_ERROR "federated needs ns-3.35 or later, found ${ns3_VERSION}")
endif()

# Debian's exported targets name libraries whose -dev packages libns3-dev does not pull in, and
# system include directories, which must not be repeated: they would come before the compiler's own.
get_property(imported_targets DIRECTORY PROPERTY IMPORTED_TARGETS)
list(FILTER imported_targets INCLUDE REGEX "^ns3::")
set(ns3_targets)
foreach(target ${imported_targets})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    continue()
  endif()
  list(APPEND ns3_targets ${target})
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
