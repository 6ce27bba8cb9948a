# What the wheel of `pip install .` has beside the package python/hiroba, in its folder native/: the libraries, the
# launcher, what it makes reports by, and the plug-ins for networks that are found here. pyproject.toml names the
# component and the target.
set(programs hirobarun hiroba_tool)
set(agents reach guard)
get_property(plugins GLOBAL PROPERTY HIROBA_WIRES)
foreach(plugin ${plugins})
  if(TARGET hiroba_wire_${plugin})
    list(APPEND wires hiroba_wire_${plugin})
  endif()
endforeach()
add_custom_target(python_package DEPENDS hiroba hiroba_sparse_shared ${programs} ${agents} ${wires})
# One file for each: wheels have no links.
foreach(target hiroba hiroba_sparse_shared)
  string(REPLACE _shared "" library ${target})
  install(FILES $<TARGET_FILE:${target}> RENAME lib${library}.so DESTINATION lib COMPONENT python EXCLUDE_FROM_ALL)
endforeach()
install(TARGETS ${programs} RUNTIME DESTINATION bin COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS ${agents} RUNTIME DESTINATION lib/hiroba COMPONENT python EXCLUDE_FROM_ALL)
if(wires)
  install(TARGETS ${wires} LIBRARY DESTINATION lib/hiroba COMPONENT python EXCLUDE_FROM_ALL)
endif()
install(FILES python/hiroba/own_files.py DESTINATION share/hiroba COMPONENT python EXCLUDE_FROM_ALL)
install(DIRECTORY python/hiroba/report DESTINATION share/hiroba COMPONENT python EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN "*.py" PATTERN "*.html" PATTERN __pycache__ EXCLUDE)
