#!/usr/bin/env bash
# Runs Cluster API's core controller over a gateway, with its webhooks for conversion and
# admission, under its own ServiceAccount with RBAC. Infrastructure is what the script says it
# is, and the workload cluster is the server itself, with nodes that nobody runs.
#   cluster-api.sh [CHECK...]
# prints what kubernetes.sh prints, and takes the same variables. A kube-apiserver has to have
# kube-controller-manager beside it: where SA_KEY is set, that which kubernetes.sh has built is started.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
version=${VERSION:-v1.12.0}
port=${PORT:-19443}

source=$(source_of "sigs.k8s.io/cluster-api@$version")
built cluster-api "$source" .
serve
beside
authority
k kustomize "$source/config/default" >"$work/cluster-api.yaml"
install "$work/cluster-api.yaml" >/dev/null
reach capi "$port" >/dev/null
# shellcheck source=cluster-api-checks.sh
source "$root/test/controllers/cluster-api-checks.sh"
infrastructure | k apply -f - >/dev/null
account capi-system capi-manager "$work/capi.kubeconfig"
POD_NAMESPACE=capi-system POD_NAME=capi-0 POD_UID=0 run cluster-api --kubeconfig "$work/capi.kubeconfig" --webhook-port "$port" --webhook-cert-dir "$work/certs" \
  --health-addr 127.0.0.1:0 --diagnostics-address 127.0.0.1:0 --insecure-diagnostics --feature-gates ClusterTopology=true
cat >"$work/probe.yaml" <<Y
---
{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, metadata: {name: probe, namespace: default}, spec: {infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: GenericCluster, name: probe}}}
Y
until_ok 120 k create --dry-run=server -f "$work/probe.yaml"
checks cluster-api -- "$@"
