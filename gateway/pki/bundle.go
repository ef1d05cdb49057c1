package pki

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"slices"
)

// Bundle are the certificates of several texts in PEM, each once, and always in the same
// order, whichever that of the texts is. What is no certificate is left out.
func Bundle(texts ...[]byte) []byte {
	var all [][]byte
	for _, text := range texts {
		for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
			if _, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
				all = append(all, block.Bytes)
			}
		}
	}
	slices.SortFunc(all, bytes.Compare)
	var out bytes.Buffer
	for _, der := range slices.CompactFunc(all, bytes.Equal) {
		_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: der}) // a buffer takes everything
	}
	return out.Bytes()
}

// Certificates are the certificates of a text in PEM, in its order, without what else is in
// it, such as the private key of one that is a certificate and its key in a single file.
func Certificates(text []byte) []byte {
	var out bytes.Buffer
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: block.Bytes}) // a buffer takes everything
		}
	}
	return out.Bytes()
}
