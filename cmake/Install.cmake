# SPDX-License-Identifier: Apache-2.0
# The layout of an installation. All paths are relative to the executables, so that the tree is
# relocatable:
#   bin                    tench and its workers
#   lib/tench/NAME         the libraries of worker NAME
#   share/tench            suites, sketches, manifests of workers, assets of the report
#   share/{doc,man,…}      documentation, the manual page, completions
# Components:
#   core        the program with reference and native: the content of the Debian package
#   workers     workers that open their framework when they run
#   frameworks  the fetched frameworks (gigabytes), and torch, which links its framework
set(fetched ${PROJECT_SOURCE_DIR}/deps/fetched)

# A build folder has the same layout.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
file(CREATE_LINK ${fetched} ${PROJECT_BINARY_DIR}/lib/tench SYMBOLIC)

function(tench_install_worker name component)
  if(TARGET tench-worker-${name})
    install(TARGETS tench-worker-${name} RUNTIME DESTINATION bin COMPONENT ${component})
  endif()
endfunction()

install(TARGETS tench RUNTIME DESTINATION bin COMPONENT core)
tench_install_worker(reference core)
tench_install_worker(native core)
tench_install_worker(caffe workers)
install(TARGETS tench-batches RUNTIME DESTINATION bin COMPONENT workers)
tench_install_worker(tensorflow workers)
tench_install_worker(mxnet workers)
tench_install_worker(torch frameworks)
if(TARGET tench-worker-native)
  install(FILES ${fetched}/native/lib/libdnnl.so.3 DESTINATION lib/tench/native/lib COMPONENT core)
endif()

file(GLOB manifests RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/workers CONFIGURE_DEPENDS workers/*/manifest.json)
foreach(manifest ${manifests})
  get_filename_component(worker ${manifest} DIRECTORY)
  install(FILES workers/${manifest} DESTINATION share/tench/workers RENAME tench-worker-${worker}.json COMPONENT core)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/suites ${PROJECT_SOURCE_DIR}/sketches DESTINATION share/tench COMPONENT core)
install(FILES ${PROJECT_SOURCE_DIR}/deps/debian.txt ${PROJECT_SOURCE_DIR}/deps/debian-tests.txt
        DESTINATION share/tench/pins COMPONENT core)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/deps/wheels DESTINATION share/tench/pins COMPONENT core)
install(FILES ${PROJECT_SOURCE_DIR}/src/report/html/figures.py DESTINATION share/tench COMPONENT core)
install(FILES ${PROJECT_BINARY_DIR}/share/tench/vega.js DESTINATION share/tench COMPONENT core OPTIONAL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION share/doc/tench COMPONENT core)
foreach(file README.md LICENSE CHANGELOG.md CITATION.cff)
  install(FILES ${PROJECT_SOURCE_DIR}/${file} DESTINATION share/doc/tench COMPONENT core OPTIONAL)
endforeach()

# The program itself writes these files, so that they list exactly its flags.
function(tench_install_written folder file)
  install(CODE "set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}\")
file(MAKE_DIRECTORY \"\${folder}\")
execute_process(COMMAND \"$<TARGET_FILE:tench>\" ${ARGN} OUTPUT_FILE \"\${folder}/${file}\" RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR \"tench ${ARGN} failed: \${failed}\")
endif()
message(STATUS \"Installing: \${folder}/${file}\")" COMPONENT core)
endfunction()
tench_install_written(share/man/man1 tench.1 man)
tench_install_written(share/bash-completion/completions tench completion bash)
tench_install_written(share/zsh/site-functions _tench completion zsh)
tench_install_written(share/fish/vendor_completions.d tench.fish completion fish)

foreach(framework torch/torch/lib torch/nvidia tensorflow mxnet charts)
  if(EXISTS ${fetched}/${framework})
    get_filename_component(parent ${framework} DIRECTORY)
    if(framework STREQUAL "charts")
      set(parent ../../share/tench)
    endif()
    install(DIRECTORY ${fetched}/${framework} DESTINATION lib/tench/${parent} COMPONENT frameworks
            PATTERN "include" EXCLUDE PATTERN "__pycache__" EXCLUDE PATTERN "*.a" EXCLUDE)
  endif()
endforeach()
