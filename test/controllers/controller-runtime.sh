#!/usr/bin/env bash
# Runs controller-runtime's own tests with wasmgate in the place of the programs that
# envtest starts: all packages that use it, or those that are named.
#   controller-runtime.sh [PACKAGE...]      such as ./pkg/client ./pkg/cache
# With ASSETS set to a folder with other programs, an etcd and a kube-apiserver, they run
# with these, which is how both are compared. KUBECTL names a kubectl, or it is on the PATH.
#
# MODULE and VERSION name another module whose tests use envtest; PACKAGE has to be given
# then, such as
#   MODULE=sigs.k8s.io/cluster-api VERSION=v1.13.6 controller-runtime.sh ./internal/util/ssa
#
# Left out is what needs the network: TestLazyRestMapperProvider downloads another
# release of kube-apiserver.
set -euo pipefail
module=${MODULE:-sigs.k8s.io/controller-runtime}
version=${VERSION:-v0.25.2}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT

(cd "$root" && go build -o "$work/wasmgate" .)
if [ -n "${KUBECTL:-}" ]; then
  PATH=$(dirname "$(realpath "$KUBECTL")"):$PATH
fi
if [ -z "${ASSETS:-}" ]; then
  eval "$("$work/wasmgate" envtest "$work/assets")"
else
  export KUBEBUILDER_ASSETS=$ASSETS
fi

cd "$work"
echo 'module x' >go.mod
source=$(go mod download -json "$module@$version" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
cp -r "$source" tests && chmod -R u+w tests && cd tests
packages=("$@")
if [ $# = 0 ]; then
  mapfile -t packages < <(grep -rlE 'envtest\.|controlplane\.' --include='*_test.go' pkg | xargs -n1 dirname | sort -u | sed 's|^|./|')
fi
go test -p 1 -skip TestLazyRestMapperProvider "${packages[@]}"
