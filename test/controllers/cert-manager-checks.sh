# What cert-manager.sh looks at, as kubernetes-checks.sh does.

issuer() { # NAME SPEC
  k apply -f - <<Y
---
{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: $1}, spec: {$2}}
Y
  is True "issuer $1" '{.status.conditions[?(@.type=="Ready")].status}'
}

certificate() { # NAME ISSUER [FIELDS]
  k apply -f - <<Y
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: $1}
spec: {secretName: $1, commonName: $1, dnsNames: [$1.example.com], issuerRef: {name: $2}, privateKey: {algorithm: ECDSA}${3:+, $3}}
Y
}

issued() { is True "certificate $1" '{.status.conditions[?(@.type=="Ready")].status}'; }

# crt SECRET OPTIONS... says what openssl reads in a certificate.
crt() { k get secret "$1" -o 'jsonpath={.data.tls\.crt}' | base64 -d | openssl x509 -noout "${@:2}"; }

cert_manager_ready() {
  k create -n default --dry-run=server -f - <<Y
---
{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: probe}, spec: {selfSigned: {}}}
Y
}

check_selfsigned() {
  issuer self 'selfSigned: {}'
  certificate web self
  issued web
  crt web -subject | grep -q 'CN = web'
  crt web -ext subjectAltName | grep -q DNS:web.example.com
  is "kubernetes.io/tls web" "secret web" '{.type} {.metadata.annotations.cert-manager\.io/certificate-name}'
  is 1 "certificate web" '{.status.revision}'
}

check_authority() {
  issuer self 'selfSigned: {}'
  certificate root self 'isCA: true, duration: 720h'
  issued root
  issuer authority 'ca: {secretName: root}'
  certificate leaf authority
  issued leaf
  k get secret leaf -o 'jsonpath={.data.tls\.crt}' | base64 -d >"$work/leaf.crt"
  k get secret leaf -o 'jsonpath={.data.ca\.crt}' | base64 -d >"$work/root.crt"
  openssl verify -CAfile "$work/root.crt" "$work/leaf.crt"
}

check_renewal() {
  issuer self 'selfSigned: {}'
  certificate web self
  issued web
  local serial
  serial=$(crt web -serial)
  k patch certificate web --type merge -p '{"spec":{"dnsNames":["other.example.com"]}}' # which asks for another one
  is 2 "certificate web" '{.status.revision}'
  issued web
  [ "$serial" != "$(crt web -serial)" ]
  k delete secret web # what goes comes back
  until_ok 40 k get secret web
  is 3 "certificate web" '{.status.revision}'
  k delete certificate web
  until_ok 40 gone secret web
  none certificaterequests
}

check_admission() {
  refused 'spec.secretName: Required value' <<Y
---
{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: bad}, spec: {secretName: "", commonName: a, issuerRef: {name: a}}}
Y
  refused 'spec.duration' <<Y
---
{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: bad}, spec: {secretName: a, commonName: a, duration: 1m, issuerRef: {name: a}}}
Y
  refused 'may not specify more than one issuer type' <<Y
---
{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: bad}, spec: {selfSigned: {}, ca: {secretName: a}}}
Y
}

check_approval() { # of requests: who asked is who the server says it was, and not everybody approves
  k apply -f - <<Y
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: signers.cert-manager.example.com}
spec:
  group: cert-manager.example.com
  scope: Namespaced
  names: {plural: signers, kind: Signer}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
Y
  k wait --for condition=Established crd signers.cert-manager.example.com --timeout 30s
  openssl req -new -newkey rsa:2048 -nodes -keyout "$work/asked.key" -subj /CN=asked -out "$work/asked.csr"
  k create clusterrole asks --verb create,get --resource certificaterequests.cert-manager.io --dry-run=client -o yaml | k apply -f -
  k create clusterrole approves --verb update --resource certificaterequests.cert-manager.io/status --dry-run=client -o yaml | k apply -f -
  k create rolebinding asks --clusterrole asks --user someone
  k create rolebinding approves --clusterrole approves --user someone
  k create --as someone -f - <<Y
---
apiVersion: cert-manager.io/v1
kind: CertificateRequest
metadata: {name: asked}
spec: {request: $(base64 -w0 "$work/asked.csr"), issuerRef: {name: elsewhere, group: cert-manager.example.com, kind: Signer}}
Y
  is someone "certificaterequest asked" '{.spec.username}'
  if k patch certificaterequest asked --type merge -p '{"spec":{"username":"admin"}}'; then
    echo "who asked can be changed"
    return 1
  fi
  k get certificaterequest asked -o json >"$work/asked.json"
  python3 - "$work/asked.json" <<Y
import json, sys
o = json.load(open(sys.argv[1]))
o["status"] = {"conditions": [{"type": "Approved", "status": "True", "reason": "Mine", "message": "yes", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}
json.dump(o, open(sys.argv[1], "w"))
Y
  if k replace --as someone --raw "/apis/cert-manager.io/v1/namespaces/approval/certificaterequests/asked/status" -f "$work/asked.json" >"$work/reply" 2>&1; then
    echo "approved by who may not"
    return 1
  fi
  grep -q 'does not have permissions' "$work/reply"
  k replace --raw "/apis/cert-manager.io/v1/namespaces/approval/certificaterequests/asked/status" -f "$work/asked.json"
  k delete crd signers.cert-manager.example.com --wait=false
  is Mine "certificaterequest asked" '{.status.conditions[?(@.type=="Approved")].reason}'
}

check_everywhere() {
  k apply -f - <<Y
---
{apiVersion: cert-manager.io/v1, kind: ClusterIssuer, metadata: {name: everywhere}, spec: {selfSigned: {}}}
Y
  is True "clusterissuer everywhere" '{.status.conditions[?(@.type=="Ready")].status}'
  k apply -f - <<Y
---
{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: any}, spec: {secretName: any, commonName: any, issuerRef: {name: everywhere, kind: ClusterIssuer},
 secretTemplate: {labels: {of: template}}, keystores: {pkcs12: {create: true, password: secret}}}}
Y
  issued any
  is template "secret any" '{.metadata.labels.of}'
  until_ok 20 k get secret any -o 'jsonpath={.data.keystore\.p12}'
  k patch certificate any --type merge -p '{"spec":{"secretTemplate":{"labels":{"of":"another"}}}}'
  is another "secret any" '{.metadata.labels.of}'
  k delete clusterissuer everywhere
}
