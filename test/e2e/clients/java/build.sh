#!/bin/sh
# Builds the Java client from clones, into the folder build of the first one, by the libraries
# of Debian's packages; docs/clients.md has the whole story.
#
#     build.sh CLIENT GSON_FIRE SWAGGER_CORE
#
# Left out are its metrics, for Prometheus, and what needs the builders that are generated for
# it. The folder standins has the few classes of libraries that Debian does not have and that
# the client only needs to load.
set -eu
client=$(cd "$1" && pwd) gson_fire=$2 swagger=$3 # the class path is for other folders, too
here=$(cd "$(dirname "$0")" && pwd)
out=$client/build
rm -rf "$out"
mkdir -p "$out/classes"
path=$out/classes
for name in okhttp okio gson snakeyaml bcpkix bcprov bcutil commons-codec commons-collections4 \
  commons-compress commons-io commons-lang3 protobuf slf4j-api jsr305 geronimo-annotation-1.3-spec; do
  path=$path:/usr/share/java/$name.jar
done
find "$here/standins" "$swagger/modules/swagger-annotations/src/main" "$gson_fire/src/main" \
  "$client/kubernetes/src/main" "$client/util/src/main" -name '*.java' \
  ! -path '*/monitoring/*' ! -name module-info.java ! -path '*/fluent/Config.java' \
  ! -path '*/labels/LabelSelector.java' >"$out/sources"
javac -nowarn -proc:none -d "$out/classes" -cp "$path" -sourcepath "$client/proto/src/main/java" "@$out/sources"
printf '%s' "$path" >"$out/classpath"
