#!/usr/bin/env bash
# Runs Kyverno's admission controller over a gateway, which it asks about all that is written, under its own
# ServiceAccount with the roles it comes with: policies that validate, mutate and are reported.
#   kyverno.sh [CHECK...]
# prints what kubernetes.sh prints, and takes the same variables as cluster-api.sh.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
version=${VERSION:-v1.19.1}
port=${PORT:-19446}

source=$(source_of "github.com/kyverno/kyverno@$version")
built kyverno "$source" ./cmd/kyverno
serve
beside
install "$source/config/install-latest-testing.yaml" >/dev/null
until_ok 60 k wait --for condition=Established crd --all --timeout 60s
account kyverno kyverno-admission-controller "$work/kyverno.kubeconfig"
# Its webhooks end with its Deployment, for which one without replicas stands.
k apply -f - >/dev/null <<Y
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: kyverno-admission-controller, namespace: kyverno, labels: {app.kubernetes.io/part-of: kyverno}}
spec:
  replicas: 0
  selector: {matchLabels: {a: kyverno}}
  template: {metadata: {labels: {a: kyverno}}, spec: {containers: [{name: c, image: "i:1"}]}}
Y
export INIT_CONFIG=kyverno METRICS_CONFIG=kyverno-metrics KYVERNO_NAMESPACE=kyverno KYVERNO_POD_NAME=kyverno-0 KYVERNO_SVC=kyverno-svc
export KYVERNO_SERVICEACCOUNT_NAME=kyverno-admission-controller KYVERNO_ROLE_NAME=kyverno:admission-controller KYVERNO_DEPLOYMENT=kyverno-admission-controller
cd "$work"
run kyverno --kubeconfig "$work/kyverno.kubeconfig" --serverIP "127.0.0.1:$port" --webhookServerPort "$port" --servicePort "$port" \
  --caSecretName kyverno-ca --tlsSecretName kyverno-pair --loggingFormat json --v 1 --disableMetrics --controllerRuntimeMetricsAddress 0 \
  --backgroundServiceAccountName system:serviceaccount:kyverno:kyverno-background-controller --reportsServiceAccountName system:serviceaccount:kyverno:kyverno-reports-controller
# shellcheck source=kyverno-checks.sh
source "$root/test/controllers/kyverno-checks.sh"
until_ok 120 k get validatingwebhookconfiguration kyverno-policy-validating-webhook-cfg
policy_asked() {
  refused 'denied the request' <<Y
---
{apiVersion: kyverno.io/v1, kind: ClusterPolicy, metadata: {name: bad}, spec: {rules: [{name: a, match: {any: [{resources: {kinds: [Pod]}}]}}]}}
Y
}
until_ok 60 policy_asked
checks kyverno -- "$@"
