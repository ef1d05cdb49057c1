#!/usr/bin/env bash
# Runs Kueue's controller over a gateway, with its webhooks for conversion and admission, under
# its own ServiceAccount with RBAC: queues of Jobs that are suspended until their quota has room.
#   kueue.sh [CHECK...]
# prints what kubernetes.sh prints, and takes the same variables as cluster-api.sh.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
version=${VERSION:-v0.15.0}
port=${PORT:-19444}

source=$(source_of "sigs.k8s.io/kueue@$version")
built kueue "$source" ./cmd/kueue 's#/etc/kueue/metrics/certs#certs#' cmd/kueue/main.go
serve
beside
authority
k kustomize "$source/config/default" >"$work/kueue.yaml"
install "$work/kueue.yaml" >/dev/null
reach kueue "$port" >/dev/null
cat >"$work/config.yaml" <<Y
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
health: {healthProbeBindAddress: "127.0.0.1:0"}
metrics: {bindAddress: "0"}
webhook: {port: $port, certDir: "$work/certs"}
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
integrations: {frameworks: [batch/job]}
Y
account kueue-system kueue-controller-manager "$work/kueue.kubeconfig"
cd "$work"
KUBECONFIG=$work/kueue.kubeconfig run kueue --config "$work/config.yaml" --feature-gates VisibilityOnDemand=false
# shellcheck source=kueue-checks.sh
source "$root/test/controllers/kueue-checks.sh"
quota probe 1 >"$work/probe.yaml"
until_ok 120 k create --dry-run=server -f "$work/probe.yaml"
checks kueue -- "$@"
