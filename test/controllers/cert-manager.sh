#!/usr/bin/env bash
# Runs cert-manager's controllers and webhook over a gateway, under its own ServiceAccount with RBAC:
# certificates of authorities that it keeps itself, from requests and their approval to renewal.
#   cert-manager.sh [CHECK...]
# prints what kubernetes.sh prints, and takes the same variables as cluster-api.sh.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
version=${VERSION:-v1.21.2}
port=${PORT:-19448}

source=$(source_of "github.com/cert-manager/cert-manager@$version")
main=$root/test/controllers/cert-manager/main.go
built cert-manager "$source" x/main.go "$main"
serve
beside
authority
install <(cat "$source"/deploy/crds/*.yaml) >/dev/null
sed "s#PORT#$port#; s#AUTHORITY#$(base64 -w0 "$work/certs/ca.crt")#" "$root/test/controllers/cert-manager/access.yaml" | k apply -f - >/dev/null
account cert-manager cert-manager "$work/cert-manager.kubeconfig"
cd "$work"
run cert-manager --kubeconfig "$work/cert-manager.kubeconfig" --port "$port"
# shellcheck source=cert-manager-checks.sh
source "$root/test/controllers/cert-manager-checks.sh"
until_ok 60 cert_manager_ready
checks cert-manager -- "$@"
