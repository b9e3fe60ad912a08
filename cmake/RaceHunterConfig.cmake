# RaceHunter for CMake: find_package(RaceHunter), then racehunter_add_test.
#
#   RaceHunter_EXECUTABLE    the command
#   RaceHunter_INSTRUMENTED  whether this build directory compiles with racehunter-cc or racehunter-c++
#   RACEHUNTER_OUT           where findings are kept (cache; default: .racehunter in the build directory)
#
#   racehunter_add_test(NAME name COMMAND target [argument...]
#                       [SUITE] [TIME time] [RUNS number] [JOBS number] [WORKING_DIRECTORY directory]
#                       [OPTIONS option...])
#
# adds a test that hunts the program with these arguments; with SUITE it hunts each case of a GoogleTest or Catch2
# program on its own. The test passes if the hunt ends with 0: executions completed and none failed. OPTIONS are those of
# `racehunter hunt`, or with SUITE those of `racehunter test`. The programs must be compiled by the wrappers, so the tests
# are disabled in a build directory that uses another compiler.

get_filename_component(_racehunter_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)
set(RaceHunter_EXECUTABLE "${_racehunter_prefix}/bin/racehunter")
if(NOT EXISTS "${RaceHunter_EXECUTABLE}")
  set(RaceHunter_FOUND FALSE)
  set(RaceHunter_NOT_FOUND_MESSAGE "there is no ${RaceHunter_EXECUTABLE}")
  return()
endif()
set(RACEHUNTER_OUT "${CMAKE_BINARY_DIR}/.racehunter" CACHE PATH "Where findings of RaceHunter are kept")

set(RaceHunter_INSTRUMENTED FALSE)
foreach(_racehunter_language C CXX)
  get_filename_component(_racehunter_compiler "${CMAKE_${_racehunter_language}_COMPILER}" NAME)
  if(_racehunter_compiler MATCHES "^racehunter(-cc|-c\\+\\+)?$")
    set(RaceHunter_INSTRUMENTED TRUE)
  endif()
endforeach()
if(NOT RaceHunter_INSTRUMENTED)
  get_property(_racehunter_told GLOBAL PROPERTY _RACEHUNTER_TOLD)
  if(NOT _racehunter_told)
    set_property(GLOBAL PROPERTY _RACEHUNTER_TOLD TRUE)
    message(STATUS "RaceHunter: this build directory does not use racehunter-cc, so its tests are disabled here; "
      "configure another one with -DCMAKE_C_COMPILER=racehunter-cc -DCMAKE_CXX_COMPILER=racehunter-c++")
  endif()
endif()

function(racehunter_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 _hunt "SUITE" "NAME;TIME;RUNS;JOBS;WORKING_DIRECTORY" "COMMAND;OPTIONS")
  if(NOT _hunt_NAME OR NOT _hunt_COMMAND)
    message(FATAL_ERROR "racehunter_add_test needs NAME and COMMAND")
  endif()
  if(_hunt_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "racehunter_add_test does not know: ${_hunt_UNPARSED_ARGUMENTS}")
  endif()
  list(POP_FRONT _hunt_COMMAND _program)
  if(TARGET ${_program})
    set(_program "$<TARGET_FILE:${_program}>")
  endif()
  # Hunts share the processors with the other tests of `ctest --parallel`.
  set(_jobs 1)
  if(_hunt_JOBS)
    set(_jobs ${_hunt_JOBS})
  endif()
  if(_hunt_SUITE)
    set(_words test)
  else()
    set(_words hunt --quiet --message-format short)
  endif()
  list(APPEND _words --jobs ${_jobs} --out "${RACEHUNTER_OUT}")
  if(_hunt_TIME)
    list(APPEND _words --time ${_hunt_TIME})
  endif()
  if(_hunt_RUNS)
    list(APPEND _words --runs ${_hunt_RUNS})
  endif()
  if(NOT _hunt_WORKING_DIRECTORY)
    set(_hunt_WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  add_test(NAME ${_hunt_NAME}
    COMMAND ${RaceHunter_EXECUTABLE} ${_words} ${_hunt_OPTIONS} "${_program}" -- ${_hunt_COMMAND}
    WORKING_DIRECTORY "${_hunt_WORKING_DIRECTORY}"
    COMMAND_EXPAND_LISTS)
  set_tests_properties(${_hunt_NAME} PROPERTIES PROCESSORS ${_jobs} LABELS racehunter)
  if(NOT RaceHunter_INSTRUMENTED)
    set_tests_properties(${_hunt_NAME} PROPERTIES DISABLED TRUE)
  endif()
endfunction()
