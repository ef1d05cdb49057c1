package e2e

import (
	"crypto/tls"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/story/audits"
)

var writeAudits = flag.Bool("audits.write", false, "add the differences of audit logs that have no reason yet to the list of them")

const auditDifferences = "../recorded/audits/differences.txt"

// TestAuditEvents compares the events of a table of policies and requests with those of
// kube-apiserver, field by field. What differs is listed with its reason.
func TestAuditEvents(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	text, err := os.ReadFile(auditDifferences)
	if err != nil {
		t.Fatal(err)
	}
	known := listed(string(text))
	found, pairs := map[string]bool{}, 0
	var fresh []string
	for _, p := range audits.Policies {
		recorded, err := os.ReadFile(filepath.Join("../recorded", audits.Table, p.Name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		theirs := audits.Parse(string(recorded))
		for heading, ours := range auditedBy(t, p, theirs) {
			pairs++
			for _, d := range audits.Differences(theirs[heading], ours) {
				line := fmt.Sprintf("%s: %s: %s", p.Name, heading, d)
				found[line] = true
				if !known[line] {
					fresh = append(fresh, line)
				}
			}
		}
	}
	if pairs < 60 {
		t.Errorf("only %d pairs", pairs)
	}
	slices.Sort(fresh)
	if *writeAudits && len(fresh) > 0 {
		if err := os.WriteFile(auditDifferences, append(text, "\n# no reason yet\n"+strings.Join(fresh, "\n")+"\n"...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range fresh {
		t.Errorf("differs without a reason: %s", line)
	}
	for _, line := range slices.Sorted(maps.Keys(known)) {
		if !found[line] {
			t.Errorf("differs no longer: %s", line)
		}
	}
}

// listed are the differences in a list, whose reasons are headings.
func listed(text string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
			out[line] = true
		}
	}
	return out
}

// auditedBy are the events of each request by a policy, once there are as many as were
// recorded.
func auditedBy(t *testing.T, p audits.Policy, recorded map[string][]string) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	policy, log, tokens := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "audit.log"), filepath.Join(dir, "tokens.csv")
	for path, text := range map[string]string{policy: p.Text, tokens: audits.Tokens} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := harness.Start(t, harness.Options{Args: []string{"--token-auth-file", tokens, "--audit-policy-file", policy, "--audit-log-path", log}})
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for n, r := range audits.Requests {
		if err := audits.Send(t.Context(), client, g.URL, audits.ID(p.Name, n), r); err != nil {
			t.Fatalf("%s: %v", r.Heading(), err)
		}
	}
	g.Terminate(t) // which writes what waits
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for n, r := range audits.Requests {
		if _, ok := recorded[r.Heading()]; !ok {
			t.Errorf("%s: nothing is recorded of %s", p.Name, r.Heading())
		}
		events, err := audits.Events(text, audits.ID(p.Name, n))
		if err != nil {
			t.Fatal(err)
		}
		out[r.Heading()] = events
	}
	return out
}
