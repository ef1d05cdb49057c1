package encryption

import (
	"bytes"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/rand"
)

const secretKey = "/registry/secrets/default/a"

// TestStale: what is kept under another provider or key than the first is read, and
// told to be written again.
func TestStale(t *testing.T) {
	plain := []byte(`{"kind":"Secret"}`)
	gcm1, gcm2, cbc, box, identity := provider("aesgcm", "1", key1), provider("aesgcm", "2", key2), provider("aescbc", "1", key1), provider("secretbox", "1", key1), "{identity: {}}"
	both := "{aesgcm: {keys: [{name: '2', secret: " + key2 + "}, {name: '1', secret: " + key1 + "}]}}"
	for _, c := range []struct {
		name, written, read string
		stale, fails        bool
	}{
		{"the same", gcm1, gcm1, false, false},
		{"another key is first", gcm1, both, true, false},
		{"another provider is first", cbc, gcm1 + ", " + cbc, true, false},
		{"a provider twice", gcm1, gcm2 + ", " + gcm1, true, false},
		{"as it was before", identity, gcm1 + ", " + identity, true, false},
		{"no longer encrypted", box, identity + ", " + box, true, false},
		{"a key that is gone", gcm1, gcm2, false, true},
		{"a provider that is gone", box, gcm1 + ", " + identity, false, true},
		{"plain, where that is not allowed", identity, gcm1, false, true},
		{"encrypted, where nothing is", gcm1, identity, false, true},
		{"another secret of the same name", gcm1, provider("aesgcm", "1", key2), false, true},
		{"another secret of the same name (secretbox)", box, provider("secretbox", "1", key2), false, true},
	} {
		kept, err := mustLoad(t, configFile(t, of("secrets", c.written))).ToStorage(t.Context(), secretKey, plain)
		if err != nil {
			t.Fatal(err)
		}
		got, stale, err := mustLoad(t, configFile(t, of("secrets", c.read))).FromStorage(t.Context(), secretKey, kept)
		if (err != nil) != c.fails || stale != c.stale || err == nil && !bytes.Equal(got, plain) {
			t.Errorf("%s: %q, stale %t, %v", c.name, got, stale, err)
		}
	}
}

// TestTampering: what somebody changed in etcd is not read as something else. aescbc
// and secretbox are not told the key that a value is under, in kube-apiserver neither;
// and aescbc proves nothing but the padding.
func TestTampering(t *testing.T) {
	plain := []byte(`{"kind":"Secret","data":{"a":"` + rand.String(40) + `"}}`)
	for _, kind := range []string{"aesgcm", "secretbox", "aescbc"} {
		e := mustLoad(t, configFile(t, of("secrets", provider(kind, "1", key1)+", "+provider(kind, "2", key2))))
		kept, err := e.ToStorage(t.Context(), secretKey, plain)
		if err != nil {
			t.Fatal(err)
		}
		begin := len("k8s:enc:" + kind + ":v1:1:")
		refused := func(how, key string, kept []byte) {
			t.Helper()
			if got, _, err := e.FromStorage(t.Context(), key, kept); err == nil {
				t.Errorf("%s: %s is read as %q", kind, how, got)
			}
		}
		for n := range len(kept) {
			refused("one that was cut", secretKey, kept[:n])
		}
		refused("one under the name of another key", secretKey, slices.Concat([]byte("k8s:enc:"+kind+":v1:3:"), kept[begin:]))
		refused("one in plain text", secretKey, plain)
		refused("one that was made longer", secretKey, append(slices.Clone(kept), 0))
		if kind != "aescbc" {
			for n := begin; n < len(kept); n++ {
				changed := slices.Clone(kept)
				changed[n] ^= 1
				refused("one with another bit", secretKey, changed)
			}
			refused("one that another key encrypted", secretKey, slices.Concat([]byte("k8s:enc:"+kind+":v1:2:"), kept[begin:]))
		}
		if kind == "aesgcm" {
			refused("one of another object", "/registry/secrets/default/b", kept)
		}
	}
}

// FuzzFromStorage: whatever is in etcd, reading it ends, and what was written is read.
func FuzzFromStorage(f *testing.F) {
	var all []*Encryption
	for _, kind := range []string{"aesgcm", "aescbc", "secretbox"} {
		e := mustLoad(f, configFile(f, of("secrets", provider(kind, "1", key1)+", "+provider("aescbc", "2", key2)+", {identity: {}}")))
		all = append(all, e)
		kept, err := e.ToStorage(f.Context(), secretKey, []byte("{}"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(kept)
		f.Add(kept[:len(kept)-1])
		f.Add([]byte("k8s:enc:" + kind + ":v1:1:"))
	}
	f.Add([]byte("k8s:enc:aescbc:v1:1:0123456789abcdef"))
	f.Add([]byte("k8s\x00"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, e := range all {
			before := slices.Clone(data)
			got, _, err := e.FromStorage(t.Context(), secretKey, data)
			if !bytes.Equal(before, data) {
				t.Fatal("what was read has changed")
			}
			if err == nil && bytes.HasPrefix(data, []byte("k8s:enc:")) && len(got) >= len(data) {
				t.Fatalf("%q is read as %q", data, got)
			}
			kept, err := e.ToStorage(t.Context(), secretKey, data)
			if err != nil {
				t.Fatal(err)
			}
			if again, stale, err := e.FromStorage(t.Context(), secretKey, kept); err != nil || stale || !bytes.Equal(again, data) {
				t.Fatalf("%q is read as %q, stale %t, %v", data, again, stale, err)
			}
		}
	})
}
