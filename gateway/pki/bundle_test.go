package pki

import (
	"bytes"
	"os"
	"testing"
)

func TestBundle(t *testing.T) {
	var texts [2][]byte
	for i := range texts {
		path, _, err := ClientAuthority(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if texts[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	both := Bundle(texts[0], []byte("nonsense"), texts[1], texts[0], []byte("-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n"))
	if len(both) != len(texts[0])+len(texts[1]) || !bytes.Contains(both, texts[0]) || !bytes.Contains(both, texts[1]) {
		t.Errorf("%s", both)
	}
	if again := Bundle(texts[1], texts[0]); !bytes.Equal(again, both) {
		t.Error("the order of texts makes a difference")
	}
}
