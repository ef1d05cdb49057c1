#!/usr/bin/env bash
# Runs External Secrets' controller and its webhook over a gateway, under its own ServiceAccount with RBAC:
# secrets that come from stores, and go to them. Of its providers those are built that need nobody else.
#   external-secrets.sh [CHECK...]
# prints what kubernetes.sh prints, and takes the same variables as cluster-api.sh.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
version=${VERSION:-v0.16.2}
port=${PORT:-19445}

source=$(source_of "github.com/external-secrets/external-secrets@$version")
built external-secrets "$source" . '\#/pkg/provider/#{\#/\(fake\|kubernetes\|webhook\)"#!d}' pkg/provider/register/register.go
serve
beside
authority
install "$source/deploy/crds/bundle.yaml" >/dev/null
sed "s#PORT#$port#; s#AUTHORITY#$(base64 -w0 "$work/certs/ca.crt")#" "$root/test/controllers/external-secrets.yaml" | k apply -f - >/dev/null
account external-secrets external-secrets "$work/external-secrets.kubeconfig"
ln -sf external-secrets "$programs/external-secrets-webhook"
cd "$work"
export KUBECONFIG=$work/external-secrets.kubeconfig
run external-secrets --metrics-addr 0 --store-requeue-interval 5s --concurrent 4
run external-secrets-webhook webhook --metrics-addr 0 --healthz-addr 127.0.0.1:0 --port "$port" --cert-dir "$work/certs" --dns-name 127.0.0.1
export KUBECONFIG=$work/kubeconfig
# shellcheck source=external-secrets-checks.sh
source "$root/test/controllers/external-secrets-checks.sh"
until_ok 60 external_ready
checks external-secrets external-secrets-webhook -- "$@"
