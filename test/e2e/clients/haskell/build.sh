#!/bin/sh
# Builds the Haskell client from clones, as a database of packages in the folder build of the first
# one, by the libraries of Debian's packages; docs/clients.md has the whole story.
#
#     build.sh CLIENT STREAMING STREAMING_BYTESTRING JSONPATH TIMEREP JOSE_JWT OIDC_CLIENT
#
# All of them are built as they are, by Cabal, in the order of the arguments. Of the client's APIs
# it is Kubernetes 1.25's, the smallest, and it logs by monad-logger: Debian has no Katip.
set -eu
client=$(cd "$1" && pwd)
shift
out=$client/build
rm -rf "$out"
mkdir -p "$out"
printf 'import Distribution.Simple\nmain = defaultMain\n' >"$out/Setup.hs"
ghc -v0 -outputdir "$out/setup.o" -o "$out/setup" "$out/Setup.hs"
ghc-pkg init "$out/packages"
for folder in "$@" "$client/kubernetes-1.25" "$client/kubernetes-client"; do
  echo "$folder"
  build=$out/$(basename "$folder") flags=
  # oidc-client runs code of jose-jwt while it is compiled, from a shared library.
  case $folder in
  */jose-jwt | jose-jwt) shared=--enable-shared ;;
  *) shared=--disable-shared ;;
  esac
  case $folder in */kubernetes-1.25) flags=-f-UseKatip ;; esac
  (
    cd "$folder"
    for step in "configure --package-db=$out/packages --prefix=$out/installed --disable-optimization $shared $flags --ghc-options=-w" build install; do
      # shellcheck disable=SC2086 # each word is an argument
      "$out/setup" $step --builddir="$build" -v0
    done
  )
done
