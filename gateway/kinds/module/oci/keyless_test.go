package oci

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
)

// A bundle that is made of annotations has the bound that others have, to the byte.
func TestBundlesOfAnnotationsHaveABound(t *testing.T) {
	longest := 0
	for _, index := range []int64{1, 10, 100, 1000} { // the rest grows by four bytes at a time
		for body := maxBundle/4*3 - 600; body < maxBundle; body++ {
			var e entry
			e.Payload.Body, e.Payload.LogID, e.Payload.LogIndex = make([]byte, body), "00", index
			said, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			made := keyless(map[string]string{entryAnnotation: string(said), certificateAnnotation: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"},
				digest.FromString("payload"), []byte("signature"))
			if made == "" {
				break
			}
			if longest = max(longest, len(made)); !strings.Contains(made, "AAAAAAAA") {
				t.Fatalf("%.200s", made)
			}
		}
	}
	if longest != maxBundle {
		t.Errorf("the longest has %d bytes, want %d", longest, maxBundle)
	}
}
