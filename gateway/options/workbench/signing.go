package workbench

// Signing makes and verifies the signatures that modules carry.
type Signing interface {
	// NewKey makes a key, as PEM.
	NewKey() (private, public []byte, err error)
	// Sign returns the module with a signature more; what the key made before goes.
	Sign(what Signed) ([]byte, error)
	// Verify finds out whether the key signed the module. An error is a mistake in what
	// was given.
	Verify(what Signed) (Verified, error)
}

// Signed is a module that is to be signed or verified.
type Signed struct {
	// Content are its bytes.
	Content []byte
	// Key is PEM: a private key that signs, a public one that verifies.
	Key []byte
	// For is the name of the only WasmModule that the signature is for; "" for any.
	For string
}

// Verified is what is known of the signatures of a module.
type Verified struct {
	// Signed is the digest of the bytes that are signed, all but the section of
	// signatures, and Signatures how many there are.
	Signed     string `json:"signed"`
	Signatures int    `json:"signatures"`
	// Key names the key.
	Key string `json:"key"`
	// Problem is why the key did not sign it, "" if it did.
	Problem string `json:"problem,omitempty"`
}
