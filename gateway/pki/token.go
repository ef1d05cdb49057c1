package pki

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path/filepath"
)

// tokenBytes is the entropy of the admin token.
const tokenBytes = 32

// AdminToken returns the bearer token of the administrator, kept in dir as
// admin.token. It is made at the first call and stays the same afterwards;
// deleting the file and starting again revokes it.
func AdminToken(dir string) (string, error) {
	if err := openFolder(dir); err != nil {
		return "", fmt.Errorf("admin token: %w", err)
	}
	path := filepath.Join(dir, "admin.token")
	data, err := readOrCreate(path, func() ([]byte, error) {
		raw := make([]byte, tokenBytes)
		_, _ = rand.Read(raw) // crypto/rand never fails
		return []byte(hex.EncodeToString(raw) + "\n"), nil
	})
	if err != nil {
		return "", fmt.Errorf("admin token: %w", err)
	}
	token := string(bytes.TrimSpace(data))
	if len(token) < tokenBytes {
		return "", fmt.Errorf("admin token: %s holds no token; delete it to have a new one made", path)
	}
	return token, nil
}
