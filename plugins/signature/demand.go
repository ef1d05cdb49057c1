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
	// Promised tells that no log is proved to have it: one only promised to. What cosign
	// keeps beside images has no more than that.
	Promised bool
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
	// Statements have to be, too, each of them.
	Statements []Stated
}

// Met finds signatures by an authority that satisfy the demand, and who made the first. The
// error is an *[Error]: of several signatures what the one has wrong that is nearest to right.
func (d Demand) Met(all []Signature, by Authority) (who Signatory, err error) {
	if len(all) == 0 {
		return Signatory{}, d.unsigned()
	}
	claims := &claims{by: by, all: all, made: make([]*claimed, len(all))}
	for i, accepts := range d.needs() {
		one, err := d.satisfied(claims, accepts)
		if err != nil {
			return Signatory{}, err
		}
		if i == 0 {
			who = one
		}
	}
	return who, nil
}

// claims are what signatures say, each verified once, when somebody first asks.
type claims struct {
	by   Authority
	all  []Signature
	made []*claimed
}

type claimed struct {
	Claim
	err error
}

func (c *claims) at(i int) (Claim, error) {
	if c.made[i] == nil {
		claim, err := c.by.Claim(c.all[i])
		c.made[i] = &claimed{claim, err}
	}
	return c.made[i].Claim, c.made[i].err
}

// needs are what claims have to satisfy, each some claim. What has to be stated is enough:
// a signature besides is not needed.
func (d Demand) needs() (all []func(Claim) error) {
	if d.Provenance != nil {
		all = append(all, func(c Claim) error { return d.Provenance.accepts(c, d.Digest) })
	}
	for _, s := range d.Statements {
		all = append(all, func(c Claim) error { return s.accepts(c, d.Digest) })
	}
	if len(all) == 0 {
		all = append(all, d.accepts)
	}
	return all
}

// satisfied finds a signature whose claim is accepted.
func (d Demand) satisfied(c *claims, accepts func(Claim) error) (Signatory, error) {
	var worst error
	for i := range c.all {
		claim, err := c.at(i)
		if err == nil {
			err = accepts(claim)
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
		return Signatory{}, &Error{e.Reason, fmt.Sprintf("none of "+of+" is valid and by a trusted key or identity", len(c.all))}
	}
	return Signatory{}, worst
}

func (d Demand) unsigned() error {
	if d.Image {
		return &Error{Unsigned, "its image has no signature"}
	}
	return &Error{Unsigned, "it carries no signature"}
}

// accepts is what is wrong with what an authority says that is to be a signature.
func (d Demand) accepts(c Claim) error {
	switch {
	case c.Promised && !d.Image:
		return &Error{BundleMalformed, "a bundle of it: it is of the version 0.1, which has no proof that a log has it"}
	case c.Statement != nil:
		return c.Statement.vouches(d.Digest)
	case c.Payload != nil && d.Image:
		return saysOfImage(c.Payload, d.Digest)
	case c.Payload != nil:
		return says(c.Payload, d.Digest, d.Name)
	case c.Digest != d.Digest:
		return &Error{OfOtherContent, fmt.Sprintf("the signature is of %q, and this is %s", c.Digest, d.Digest)}
	}
	return nil
}

// Concerns is what is wrong with a signature as one of what is demanded at all: a statement may
// say anything of it.
func (d Demand) Concerns(s Signature, by Authority) error {
	c, err := by.Claim(s)
	switch {
	case err != nil:
		return err
	case c.Statement != nil:
		return c.Statement.of(d.Digest)
	}
	return d.accepts(c)
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
	case e.Reason == OtherProvenance || e.Reason == OtherStatement:
		return 6
	}
	return 5
}
