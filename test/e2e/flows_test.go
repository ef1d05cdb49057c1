package e2e

import (
	"crypto/tls"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/story/flows"
)

// TestFlowSchemasOfRequests compares the schema and the level that each request of a
// table falls under with those of kube-apiserver. What differs is listed with its reason.
func TestFlowSchemasOfRequests(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("../recorded", flows.Table)
	recording, err := os.ReadFile(filepath.Join(dir, flows.Table+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(dir, "differences.txt"))
	if err != nil {
		t.Fatal(err)
	}
	shared := harness.Shared(t)
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	ours, err := (&flows.Server{Client: client, URL: shared.URL, Token: shared.Token}).Tell(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	theirs, known := flows.Parse(string(recording)), listed(string(list))
	if len(ours) != len(theirs) || len(ours) < 80 {
		t.Fatalf("%d requests were sent, %d are recorded", len(ours), len(theirs))
	}
	for i, line := range ours {
		if line.Heading != theirs[i].Heading {
			t.Fatalf("%s was sent, %s is recorded", line.Heading, theirs[i].Heading)
		}
		if line.Under == theirs[i].Under {
			continue
		}
		difference := line.Heading + ": " + theirs[i].Under + " > " + line.Under
		if !known[difference] {
			t.Errorf("differs without a reason: %s", difference)
		}
		delete(known, difference)
	}
	for _, line := range slices.Sorted(maps.Keys(known)) {
		if !shared.External {
			t.Errorf("differs no longer: %s", line)
		}
	}
}
