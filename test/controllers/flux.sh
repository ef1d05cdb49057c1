#!/usr/bin/env bash
# Runs Flux's kustomize-controller over a gateway, under its own ServiceAccount with RBAC: manifests that are
# applied, kept as they are and pruned. What Flux's source-controller would fetch is served by the script.
#   flux.sh [CHECK...]
# prints what kubernetes.sh prints, and takes the same variables as cluster-api.sh; it needs Python 3.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
version=${VERSION:-v1.9.6}
port=${PORT:-19447}

source=$(source_of "github.com/fluxcd/kustomize-controller@$version")
built kustomize-controller "$source" . '/=> .\/api$/d' go.mod
sources=$(source_of "github.com/fluxcd/source-controller@$version")
serve
beside
k create namespace flux-system >/dev/null
k create serviceaccount kustomize-controller -n flux-system >/dev/null
k apply -f "$sources/config/crd/bases" -f "$source/config/crd/bases" >/dev/null
k create clusterrolebinding flux --clusterrole cluster-admin --serviceaccount flux-system:kustomize-controller >/dev/null
k wait --for condition=Established crd kustomizations.kustomize.toolkit.fluxcd.io gitrepositories.source.toolkit.fluxcd.io --timeout 60s >/dev/null
account flux-system kustomize-controller "$work/flux.kubeconfig"
mkdir -p "$work/artifacts"
python3 -m http.server --bind 127.0.0.1 --directory "$work/artifacts" "$port" >"$work/artifacts.log" 2>&1 &
started+=($!)
cd "$work"
KUBECONFIG=$work/flux.kubeconfig RUNTIME_NAMESPACE=flux-system run kustomize-controller --metrics-addr 127.0.0.1:0 --health-addr 127.0.0.1:0 --events-addr "" --requeue-dependency 2s
# shellcheck source=flux-checks.sh
source "$root/test/controllers/flux-checks.sh"
checks kustomize-controller -- "$@"
