package pki

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
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

// TokenKey returns the PEM of the key that tokens of service accounts are signed
// by. It is made, and kept in dir, when there is none.
func TokenKey(dir string) ([]byte, error) {
	err := openFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("key of tokens: %w", err)
	}
	data, err := readOrCreate(filepath.Join(dir, "sa.key"), func() ([]byte, error) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, err
		}
		der, err := x509.MarshalPKCS8PrivateKey(key)
		return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), err
	})
	if err != nil {
		return nil, fmt.Errorf("key of tokens: %w", err)
	}
	return data, nil
}
