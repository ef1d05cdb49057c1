package kinds

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// What the lease by which a gateway says that it is there says besides.
const (
	// IdentityLabel is of leases of servers of the API, IdentityOfServer its value.
	IdentityLabel    = "apiserver.kubernetes.io/identity"
	IdentityOfServer = "kube-apiserver"
	// AuthoritiesKey is the annotation with the certificates by which clients verify the
	// gateway, as PEM.
	AuthoritiesKey = "wasmgate.dev/serving-authorities"
)

// Identity is the name of what a gateway says of itself in an object, its lease for
// instance: kube-apiserver's of one that is called gateway, its host and port.
func Identity(gateway string) string {
	hash := sha256.Sum256([]byte(gateway))
	return "apiserver-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(hash[:16]))
}
