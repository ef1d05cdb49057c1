package signature

import (
	"bytes"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
)

// answers is who is asked for a password, and counts how often.
func answers(word string, asked *int) func() ([]byte, error) {
	return func() ([]byte, error) {
		*asked++
		return []byte(word), nil
	}
}

// sealed is an encrypted key with what it consists of altered; of type "" as it is.
func sealed(t *testing.T, private []byte, kind, old, now string) []byte {
	t.Helper()
	block, _ := pem.Decode(private)
	text := strings.Replace(string(block.Bytes), old, now, 1)
	if text == string(block.Bytes) && old != now {
		t.Fatalf("%s has no %s", text, old)
	}
	if kind == "" {
		kind = block.Type
	}
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte(text)})
}

// An encrypted key is the one that was encrypted, by its password alone; one whose
// parameters would take a long time or much memory is refused before that.
func TestEncryptedKeys(t *testing.T) {
	private, public, err := GenerateEncrypted([]byte("open"))
	if err != nil || bytes.Contains(private, []byte(`"BEGIN PRIVATE`)) {
		t.Fatal(err)
	}
	want, err := ParsePublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	empty, _, err := GenerateEncrypted([]byte{})
	if err != nil {
		t.Fatal(err)
	}
	plain, _, err := Generate()
	if err != nil {
		t.Fatal(err)
	}
	const costs = `"N":65536,"r":8,"p":1`
	for name, c := range map[string]struct {
		text       []byte
		word, want string
		asked      int
	}{
		"right":              {private, "open", "", 1},
		"cosign's old name":  {sealed(t, private, oldEncryptedType, "", ""), "open", "", 1},
		"an empty password":  {empty, "", "", 1},
		"wrong":              {private, "Open", "by this password: encrypted: decryption failed", 1},
		"none":               {private, "", "by this password: encrypted: decryption failed", 1},
		"much memory":        {sealed(t, private, "", costs, `"N":1073741824,"r":8,"p":1`), "open", "unsupported scrypt parameters", 1},
		"much time":          {sealed(t, private, "", costs, `"N":65536,"r":8,"p":1048576`), "open", "unsupported scrypt parameters", 1},
		"weak":               {sealed(t, private, "", costs, `"N":2,"r":8,"p":1`), "open", "unsupported scrypt parameters", 1},
		"other costs":        {sealed(t, private, "", costs, `"N":32768,"r":8,"p":1`), "open", "decryption failed", 1},
		"another derivation": {sealed(t, private, "", `"scrypt"`, `"none"`), "open", `unknown kdf name "none"`, 1},
		"another cipher":     {sealed(t, private, "", `"nacl/secretbox"`, `"none"`), "open", `unknown cipher name "none"`, 1},
		"a short nonce":      {sealed(t, private, "", `"nonce":"`, `"nonce":"","x":"`), "open", "incorrect nonce size", 1},
		"broken base64":      {sealed(t, private, "", `"ciphertext":"`, `"ciphertext":"%`), "open", "illegal base64", 1},
		"no JSON":            {sealed(t, private, "", `{"kdf"`, `"kdf"`), "open", "invalid character", 1},
		"two":                {append(bytes.Clone(private), private...), "open", "more than one key", 0},
		"too large":          {sealed(t, private, "", `{"kdf"`, strings.Repeat(" ", maxEncrypted)+`{"kdf"`), "open", "of 32768 at most", 0},
		"openssl's":          {sealed(t, private, "ENCRYPTED PRIVATE KEY", "", ""), "open", `"openssl pkey" decrypts it`, 0},
		"not encrypted":      {plain, "open", "", 0},
		"no PEM":             {[]byte("x"), "open", "not PEM", 0},
	} {
		asked := 0
		key, err := OpenPrivateKey(c.text, answers(c.word, &asked))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) || asked != c.asked {
			t.Errorf("%s: asked %d times, %v", name, asked, err)
		}
		if name == "right" && key.Public().ID() != want.ID() {
			t.Error("it is another key")
		}
	}
	none := errors.New("nobody is there")
	if _, err := OpenPrivateKey(private, func() ([]byte, error) { return nil, none }); !errors.Is(err, none) {
		t.Errorf("nobody answers: %v", err)
	}
	if _, err := ParsePrivateKey(private); err == nil {
		t.Error("an encrypted key is read without a password")
	}
}
