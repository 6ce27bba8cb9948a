# What the wheel of `pip install .` has beside the package python/hiroba, in its folder native/: the library, the
# launcher, and the plug-ins for networks that are found here. pyproject.toml names the component and the target.
set(programs hirobarun hiroba_tool)
set(agents reach guard)
get_property(plugins GLOBAL PROPERTY HIROBA_WIRES)
foreach(plugin ${plugins})
  if(TARGET hiroba_wire_${plugin})
    list(APPEND wires hiroba_wire_${plugin})
  endif()
endforeach()
add_custom_target(python_package DEPENDS hiroba ${programs} ${agents} ${wires})
# One file: wheels have no links.
install(FILES $<TARGET_FILE:hiroba> RENAME libhiroba.so DESTINATION lib COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS ${programs} RUNTIME DESTINATION bin COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS ${agents} RUNTIME DESTINATION lib/hiroba COMPONENT python EXCLUDE_FROM_ALL)
if(wires)
  install(TARGETS ${wires} LIBRARY DESTINATION lib/hiroba COMPONENT python EXCLUDE_FROM_ALL)
endif()
