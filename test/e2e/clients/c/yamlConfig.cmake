# Debian's libyaml-dev has no such file, which the C client's build looks for.
add_library(yaml INTERFACE IMPORTED)
target_link_libraries(yaml INTERFACE -lyaml)
