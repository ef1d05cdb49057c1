package signature

import "fmt"

// Claim is what a signature that was verified says, and whose it is. One of Payload,
// Digest and Statement is set.
type Claim struct {
	By Signatory
	// Payload is in the form of a [Payload].
	Payload []byte
	// Digest is that of what was signed itself.
	Digest string
	// Statement is about it.
	Statement *Statement
}

// Signatory is who signed: a key by its ID, or an identity by whom it is known to.
type Signatory struct{ Key, Issuer, Subject string }

// Authority is somebody who may vouch for modules.
type Authority interface {
	// Claim verifies a signature. The error is an *[Error]; without a Detail it tells that
	// the signature is another's.
	Claim(s Signature) (Claim, error)
}

// Demand is what has to be vouched for.
type Demand struct {
	// Digest is that of the bytes before the section of a module, or of the manifest of
	// an image.
	Digest string
	// Name is that of the WasmModule; "" accepts only what is for any. It does not matter
	// for an image.
	Name  string
	Image bool
	// Provenance has to be stated by the same authority; nil for none.
	Provenance *Provenance
}

// Met finds a signature by an authority that satisfies the demand. The error is an *[Error]: of
// several signatures what the one has wrong that is nearest to right.
func (d Demand) Met(all []Signature, by Authority) (Signatory, error) {
	if len(all) == 0 {
		return Signatory{}, d.unsigned()
	}
	var worst error
	for _, s := range all {
		claim, err := by.Claim(s)
		if err == nil {
			err = d.accepts(claim)
		}
		if err == nil {
			return claim.By, nil
		}
		worst = Nearest(worst, err)
	}
	if e, ok := worst.(*Error); ok && e.Detail == "" {
		of := "its %d signatures"
		if d.Image {
			of = "the %d signatures of its image"
		}
		return Signatory{}, &Error{e.Reason, fmt.Sprintf("none of "+of+" is valid and by a trusted key or identity", len(all))}
	}
	return Signatory{}, worst
}

func (d Demand) unsigned() error {
	if d.Image {
		return &Error{Unsigned, "its image has no signature"}
	}
	return &Error{Unsigned, "it carries no signature"}
}

// accepts is what is wrong with what an authority says.
func (d Demand) accepts(c Claim) error {
	switch {
	case c.Statement != nil:
		return d.acceptsStatement(c.Statement)
	case d.Provenance != nil:
		return &Error{NoProvenance, "it is signed, but nobody who is trusted states where it comes from"}
	case c.Payload != nil && d.Image:
		return saysOfImage(c.Payload, d.Digest)
	case c.Payload != nil:
		return says(c.Payload, d.Digest, d.Name)
	case c.Digest != d.Digest:
		return &Error{OfOtherContent, fmt.Sprintf("the signature is of %q, and this is %s", c.Digest, d.Digest)}
	}
	return nil
}

// Nearest is the one of two errors that is nearer to right, the second of equals.
func Nearest(a, b error) error {
	if nearness(a) > nearness(b) {
		return a
	}
	return b
}

func nearness(err error) int {
	e, ok := err.(*Error)
	switch {
	case !ok:
		return 0
	case e.Reason == Unsigned:
		return 1
	case e.Reason == Untrusted && e.Detail == "":
		return 2
	case e.Reason == Untrusted || e.Reason == BundleMalformed:
		return 3
	case e.Reason == OfOtherIdentity:
		return 4
	}
	return 5
}
