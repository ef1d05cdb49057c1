#!/usr/bin/env bash
# Runs Argo CD's application controller and its repository server over a gateway, under a ServiceAccount of their
# own: applications from a git repository on disk, which are synchronized, healed, hooked and pruned.
#   argo-cd.sh [CHECK...]
# prints what kubernetes.sh prints, and takes the same variables as cluster-api.sh; it needs git and redis-server.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
version=${VERSION:-v3.5.7}
port=${PORT:-19449}

source=$(source_of "github.com/argoproj/argo-cd/v3@$version")
engine=v0.0.0-20260914071520-c9c369efcc5b # its own is a folder that is not published with it
built argocd "$source" ./cmd "/gitops-engine => /d; s#\(argo-cd/gitops-engine\) v0.*#\1 $engine#" go.mod
ln -sf argocd "$programs/argocd-repo-server"
ln -sf argocd "$programs/argocd-application-controller"
serve
beside
k create namespace argocd >/dev/null
k apply --server-side -n argocd -f "$source/manifests/crds/application-crd.yaml" -f "$source/manifests/crds/appproject-crd.yaml" -f "$source/manifests/crds/applicationset-crd.yaml" >/dev/null
k wait --for condition=Established crd applications.argoproj.io appprojects.argoproj.io --timeout 60s >/dev/null
k apply -n argocd -f "$root/test/controllers/argo-cd.yaml" >/dev/null
account argocd argocd "$work/argocd.kubeconfig"
redis-server --bind 127.0.0.1 --port $((port + 1)) --save '' --appendonly no >"$work/redis.log" 2>&1 &
started+=($!)
mkdir -p "$work/repositories" "$work/bin"
cp "$source/hack/git-verify-wrapper.sh" "$work/bin" # it is asked of each commit, and modules have no programs
chmod +x "$work/bin/git-verify-wrapper.sh"
cd "$work"
export PATH=$work/bin:$PATH ARGOCD_FAKE_IN_CLUSTER=true ARGOCD_GPG_ENABLED=false REDIS_SERVER=127.0.0.1:$((port + 1)) KUBECONFIG=$work/argocd.kubeconfig
run argocd-repo-server --address 127.0.0.1 --port "$port" --metrics-address 127.0.0.1 --metrics-port $((port + 2)) --disable-tls --client-ca-path "" --redis "$REDIS_SERVER" --loglevel warn --logformat json
run argocd-application-controller --kubeconfig "$work/argocd.kubeconfig" --namespace argocd --repo-server "127.0.0.1:$port" --repo-server-plaintext \
  --redis "$REDIS_SERVER" --metrics-port $((port + 3)) --app-resync 5 --self-heal-timeout-seconds 1 --loglevel warn --logformat json
export KUBECONFIG=$work/kubeconfig
# shellcheck source=argo-cd-checks.sh
source "$root/test/controllers/argo-cd-checks.sh"
checks argocd-application-controller argocd-repo-server -- "$@"
