package e2e

import (
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

const (
	authnHead = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"
	authzHead = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n"
	noTimes   = "subjectAccessReviewVersion: v1, failurePolicy: Deny, connectionInfo: {type: KubeConfigFile, kubeConfigFile: /none}"
)

// wrongFiles are files that stop a start, by flag and name.
var wrongFiles = map[string]map[string]string{
	"authentication-config": {
		"another kind":     authzHead,
		"another version":  "apiVersion: apiserver.config.k8s.io/v9\nkind: AuthenticationConfiguration\n",
		"unknown field":    authnHead + "jwts: []\n",
		"no https":         authnHead + `jwt: [{issuer: {url: "http://x", audiences: [a]}, claimMappings: {username: {claim: sub, prefix: ""}}}]`,
		"own issuer":       authnHead + `jwt: [{issuer: {url: "https://kubernetes.default.svc", audiences: [a]}, claimMappings: {username: {claim: sub, prefix: ""}}}]`,
		"no audiences":     authnHead + `jwt: [{issuer: {url: "https://x"}, claimMappings: {username: {claim: sub, prefix: ""}}}]`,
		"no policy":        authnHead + `jwt: [{issuer: {url: "https://x", audiences: [a, b]}, claimMappings: {username: {claim: sub, prefix: ""}}}]`,
		"no username":      authnHead + `jwt: [{issuer: {url: "https://x", audiences: [a]}}]`,
		"no prefix":        authnHead + `jwt: [{issuer: {url: "https://x", audiences: [a]}, claimMappings: {username: {claim: sub}}}]`,
		"twice":            authnHead + `jwt: [{issuer: {url: "https://x", audiences: [a]}, claimMappings: {username: {claim: sub, prefix: ""}}}, {issuer: {url: "https://x", audiences: [a]}, claimMappings: {username: {claim: sub, prefix: ""}}}]`,
		"no certificate":   authnHead + `jwt: [{issuer: {url: "https://x", audiences: [a], certificateAuthority: x}, claimMappings: {username: {claim: sub, prefix: ""}}}]`,
		"no CEL":           authnHead + `jwt: [{issuer: {url: "https://x", audiences: [a]}, claimMappings: {username: {expression: "claims."}}}]`,
		"both of a rule":   authnHead + `jwt: [{issuer: {url: "https://x", audiences: [a]}, claimValidationRules: [{claim: a, expression: "true"}], claimMappings: {username: {claim: sub, prefix: ""}}}]`,
		"reserved extra":   authnHead + `jwt: [{issuer: {url: "https://x", audiences: [a]}, claimMappings: {username: {claim: sub, prefix: ""}, extra: [{key: kubernetes.io/x, valueExpression: claims.a}]}}]`,
		"closed, but open": authnHead + `anonymous: {enabled: false, conditions: [{path: /livez}]}`,
	},
	"authorization-config": {
		"another kind":    authnHead,
		"unknown field":   authzHead + "authorizer: []\n",
		"nobody":          authzHead,
		"empty list":      authzHead + "authorizers: []\n",
		"no type":         authzHead + "authorizers: [{name: rbac}]\n",
		"another name":    authzHead + "authorizers: [{type: RBAC, name: roles}]\n",
		"twice":           authzHead + "authorizers: [{type: RBAC, name: rbac}, {type: RBAC, name: rbac}]\n",
		"a webhook's":     authzHead + "authorizers: [{type: RBAC, name: rbac, webhook: {timeout: 1s}}]\n",
		"no webhook":      authzHead + "authorizers: [{type: Webhook, name: a}]\n",
		"no times":        authzHead + "authorizers: [{type: Webhook, name: a, webhook: {" + noTimes + "}}]\n",
		"too long":        authzHead + "authorizers: [{type: Webhook, name: a, webhook: {timeout: 31s, " + noTimes + "}}]\n",
		"another version": authzHead + "authorizers: [{type: Webhook, name: a, webhook: {timeout: 1s, subjectAccessReviewVersion: v2}}]\n",
		"no CEL":          authzHead + "authorizers: [{type: Webhook, name: a, webhook: {timeout: 1s, matchConditionSubjectAccessReviewVersion: v1, matchConditions: [{expression: 'request.'}, {expression: '1'}], " + noTimes + "}}]\n",
		"a name":          authzHead + "authorizers: [{type: Webhook, name: A_B, webhook: {timeout: 1s, " + noTimes + "}}]\n",
	},
}

var command = regexp.MustCompile(`(?s)"command failed" err=(?:("(?:[^"\\]|\\.)*")|<\n(.*?)\n >)`)

// TestFilesThatStopAStart compares what is said of them with kube-apiserver's words.
func TestFilesThatStopAStart_RBAC(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	b := beside(t, "wrongfiles")
	for flag, files := range wrongFiles {
		for name, text := range files {
			args := []string{"--" + flag, configFile(t, "config.yaml", text)}
			name = flag + ", " + name
			if *recordPeer {
				if said := command.FindStringSubmatch(harness.PeerRefusal(t, args...)); said != nil {
					b.told[name] = strings.TrimSpace(strings.ReplaceAll(said[2], "\n\t", "\n"))
					if said[1] != "" {
						b.told[name], _ = strconv.Unquote(said[1])
					}
				}
				continue
			}
			out, err := exec.Command(harness.Binary(t), append([]string{"serve", "--secure-port=0", "--data-dir", t.TempDir()}, args...)...).CombinedOutput()
			want := mask.ReplaceAllString(b.told[name], "X")
			if got := mask.ReplaceAllString(string(out), "X"); err == nil || want == "" || !strings.Contains(got, want) {
				t.Errorf("%s: %v\n  got  %s\n  want %s", name, err, got, want)
			}
		}
	}
}
