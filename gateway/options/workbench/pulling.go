package workbench

import "context"

// Pulling gets modules from registries, and judges whose they are, as a gateway does.
type Pulling interface {
	// Pull gets the module that an image has. Where a registry does not give it the error
	// is a [PullError].
	Pull(ctx context.Context, image Image) (Pulled, error)
	// Judge tells whether ModuleTrusts let content be a module.
	Judge(ctx context.Context, what Judged) (Trust, error)
}

// Image is an image in a registry.
type Image struct {
	// Name is HOST/NAME:TAG or HOST/NAME@DIGEST.
	Name string
	// Registries is a file that says how registries are reached; "" for none.
	Registries string
	// Login has credentials, in the form of docker's config.json; nil for none.
	Login []byte
}

// Pulled is what a registry had.
type Pulled struct {
	// Content are the bytes of the module.
	Content []byte `json:"-"`
	// Manifest is the digest of the image's manifest, whose text is ManifestText.
	Manifest     string `json:"manifest"`
	ManifestText []byte `json:"-"`
	// Mirror is the location of the mirror that had it, "" for the image's own registry.
	Mirror string `json:"mirror,omitempty"`
	// Signatures are those that were beside it.
	Signatures []ImageSignature `json:"-"`
}

// ImageSignature is a signature of an image, or a bundle, which nobody has verified.
type ImageSignature struct {
	Payload, Signature []byte
	Bundle             string
}

// PullError is why a registry did not give a module.
type PullError struct{ Err error }

// Error says why.
func (e PullError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e PullError) Unwrap() error { return e.Err }

// Judged is content that is to be a module.
type Judged struct {
	// Trusts is a file of ModuleTrusts.
	Trusts string
	// Name is that of the WasmModule.
	Name    string
	Content []byte
	// Image is where it came from; nil for elsewhere.
	Image *Pulled
}

// Signer vouches for content: an authority of a ModuleTrust.
type Signer struct {
	Trust     string `json:"trust"`
	Authority string `json:"authority"`
	// Key names the key; or Subject is who signed without one, as an Issuer says.
	Key     string `json:"key,omitempty"`
	Issuer  string `json:"issuer,omitempty"`
	Subject string `json:"subject,omitempty"`
}

// Trust is what ModuleTrusts say of content.
type Trust struct {
	// Policies is how many there are, and SignedBy who vouches for it: one for each that
	// demands it.
	Policies int      `json:"policies"`
	SignedBy []Signer `json:"signedBy,omitempty"`
	// Problem is why it may not serve; "" when it may.
	Problem string `json:"problem,omitempty"`
}
