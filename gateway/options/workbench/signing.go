package workbench

// Signing makes and verifies the signatures that modules carry.
type Signing interface {
	// NewKey makes a key, as PEM, encrypted by a password unless that is nil.
	NewKey(password []byte) (private, public []byte, err error)
	// Sign returns the module with a signature more; what the key made before goes. It is
	// made with the key, or is the bundle.
	Sign(what Signed) ([]byte, error)
	// Verify finds out whether the key, or the identity, signed the module. An error is a mistake in what
	// was given.
	Verify(what Signed) (Verified, error)
}

// Signed is a module that is to be signed or verified.
type Signed struct {
	// Content are its bytes.
	Content []byte
	// Key is PEM: a private key that signs, a public one that verifies; nil for none.
	Key []byte
	// Password is asked for that of a private key that is encrypted.
	Password func() ([]byte, error)
	// Bundle is a bundle of Sigstore, and Identity who made one.
	Bundle   []byte
	Identity *Identity
	// For is the name of the only WasmModule that the signature is for; "" for any.
	For string
}

// Identity is who signs without a key: a subject that an issuer let in, and by whose
// certificates and logs, as Sigstore's trusted_root.json or as PEM.
type Identity struct {
	Issuer, Subject                 string
	TrustedRoot, Certificates, Logs []byte
}

// Verified is what is known of the signatures of a module.
type Verified struct {
	// Signed is the digest of the bytes that are signed, all but the section of
	// signatures, and Signatures how many there are.
	Signed     string `json:"signed"`
	Signatures int    `json:"signatures"`
	// Key names the key; or Subject is who signed, as an Issuer says.
	Key     string `json:"key,omitempty"`
	Issuer  string `json:"issuer,omitempty"`
	Subject string `json:"subject,omitempty"`
	// Problem is why it is not signed by that, "" if it is.
	Problem string `json:"problem,omitempty"`
}
