package signature

import (
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

// encryptedType is the type of PEM in which cosign keeps a private key; older ones have the
// other name.
const encryptedType, oldEncryptedType = "ENCRYPTED SIGSTORE PRIVATE KEY", "ENCRYPTED COSIGN PRIVATE KEY"

// maxEncrypted bounds what is read of an encrypted key; one of RSA of 8192 bits has 7 KB.
const maxEncrypted = 32 << 10

// OpenPrivateKey is [ParsePrivateKey] that takes a key that cosign encrypted, too, for which
// alone it asks for the password. The library lets a key be made of it in three ways, which
// take a tenth of a second and 128 MB at most, whatever the file says.
func OpenPrivateKey(text []byte, password func() ([]byte, error)) (PrivateKey, error) {
	block, rest := pem.Decode(text)
	if block == nil || !slices.Contains([]string{encryptedType, oldEncryptedType}, block.Type) {
		return ParsePrivateKey(text)
	}
	if more, _ := pem.Decode(rest); more != nil {
		return PrivateKey{}, errors.New("it has more than one key")
	}
	if len(block.Bytes) > maxEncrypted {
		return PrivateKey{}, fmt.Errorf("it has %d bytes, of %d at most", len(block.Bytes), maxEncrypted)
	}
	word, err := password()
	if err != nil {
		return PrivateKey{}, err
	}
	der, err := encrypted.Decrypt(block.Bytes, word)
	if err != nil {
		return PrivateKey{}, fmt.Errorf("it cannot be decrypted by this password: %w", err)
	}
	return ParsePrivateKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// GenerateEncrypted is [Generate] that encrypts the private key, as cosign does.
func GenerateEncrypted(password []byte) (private, public []byte, err error) {
	plain, public, err := Generate()
	if err != nil {
		return nil, nil, err
	}
	block, _ := pem.Decode(plain)
	text, err := encrypted.Encrypt(block.Bytes, password)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: encryptedType, Bytes: text}), public, nil
}
