package pki

import (
	"fmt"
	"path/filepath"
	"time"
)

// ClientAuthority names the files of the gateway's own authority for certificates of
// clients, the certificate and the key. It is one for nothing else, and made, and kept in
// a folder of dir, when there is none.
func ClientAuthority(dir string) (certFile, keyFile string, err error) {
	dir = filepath.Join(dir, "clients")
	if err = openFolder(dir); err == nil {
		_, err = openAuthority(dir, time.Now())
	}
	if err != nil {
		return "", "", fmt.Errorf("authority of clients: %w", err)
	}
	return filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key"), nil
}
