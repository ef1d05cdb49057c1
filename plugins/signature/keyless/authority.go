package keyless

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"

	"github.com/sigstore/sigstore-go/pkg/verify"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/plugins/signature"
)

const (
	// maxPattern bounds a pattern of an [Identity].
	maxPattern = 256
	// maxDetail bounds what is told of the library's words, which may be a bundle's.
	maxDetail = 512
)

// Identity is who has to have signed: as whom the issuer, who let the subject in, knows
// them. Of each the text or a pattern is set, which has to fit the whole.
type Identity struct{ Issuer, IssuerPattern, Subject, SubjectPattern string }

// Authority is an identity that certificates of roots name. It implements
// [signature.Authority].
type Authority struct {
	roots           *Roots
	issuer, subject matcher
}

// NewAuthority makes one. What is wrong with the identity is an error.
func NewAuthority(roots *Roots, id Identity) (a *Authority, err error) {
	a = &Authority{roots: roots}
	if a.issuer, err = newMatcher(id.Issuer, id.IssuerPattern); err != nil {
		return nil, fmt.Errorf("the issuer: %w", err)
	}
	if a.subject, err = newMatcher(id.Subject, id.SubjectPattern); err != nil {
		return nil, fmt.Errorf("the subject: %w", err)
	}
	return a, nil
}

// matcher is a text, or a pattern.
type matcher struct {
	text    string
	pattern *regexp.Regexp
}

func newMatcher(text, pattern string) (m matcher, err error) {
	switch {
	case (text == "") == (pattern == ""):
		return m, errors.New("either the text or a pattern has to be set")
	case len(pattern) > maxPattern:
		return m, fmt.Errorf("the pattern has %d bytes, of %d at most", len(pattern), maxPattern)
	case pattern != "":
		if _, err := regexp.Compile(pattern); err != nil { // by itself: what is around it could close what it opens
			return m, err
		}
		m.pattern, err = regexp.Compile("^(?:" + pattern + ")$")
	}
	m.text = text
	return m, err
}

func (m matcher) matches(s string) bool {
	if m.pattern != nil {
		return m.pattern.MatchString(s)
	}
	return m.text == s
}

func (m matcher) String() string {
	if m.pattern != nil {
		return "what fits " + m.pattern.String()
	}
	return fmt.Sprintf("%q", m.text)
}

// Claim implements [signature.Authority]. Whose the certificate says it is comes first, as
// that costs nothing, and is compared again with what was verified.
func (a *Authority) Claim(s signature.Signature) (c signature.Claim, err error) {
	if s.Bundle == "" {
		return c, &signature.Error{Reason: signature.Untrusted}
	}
	defer func() {
		if r := recover(); r != nil { // much code of others reads bytes of others
			c, err = signature.Claim{}, invalid("it cannot be verified: %v", r)
		}
	}()
	b, err := open(s)
	if err != nil {
		return c, err
	}
	by, err := b.signatory()
	if err != nil {
		return c, err
	}
	switch {
	case !a.issuer.matches(by.Issuer):
		return c, otherIdentity("the issuer %q, not %s", by.Issuer, a.issuer)
	case !a.subject.matches(by.Subject):
		return c, otherIdentity("the subject %q, not %s", by.Subject, a.subject)
	}
	id, err := verify.NewShortCertificateIdentity(by.Issuer, "", by.Subject, "")
	if err != nil {
		return c, invalid("%v", err)
	}
	if _, err := a.roots.verifier.Verify(b, verify.NewPolicy(b.artifact(), verify.WithCertificateIdentity(id))); err != nil {
		return c, untrusted("the bundle of %s is not to be believed: %v", by.Subject, err)
	}
	return b.claim(s, by)
}

// Unverified tells what bundles say that nobody verified. It implements
// [signature.Authority] for whom it matters only that a bundle is of a module at all.
type Unverified struct{}

// Claim implements [signature.Authority].
func (Unverified) Claim(s signature.Signature) (signature.Claim, error) {
	b, err := open(s)
	if err != nil {
		return signature.Claim{}, err
	}
	by, _ := b.signatory() // none of one that is by a key
	return b.claim(s, by)
}

// claim is what a bundle says.
func (b *bundled) claim(s signature.Signature, by signature.Signatory) (c signature.Claim, err error) {
	c.By, c.Promised = by, b.promised
	if b.digest == nil {
		c.Statement, err = b.statement()
		return c, err
	}
	if s.Payload == nil {
		c.Digest = "sha256:" + hex.EncodeToString(b.digest)
		return c, nil
	}
	if sum := sha256.Sum256(s.Payload); string(sum[:]) != string(b.digest) {
		return c, untrusted("the bundle of %s is of another payload", by.Subject)
	}
	c.Payload = s.Payload
	return c, nil
}

func failed(reason signature.Reason, format string, args ...any) error {
	return &signature.Error{Reason: reason, Detail: excerpt.Of(fmt.Sprintf(format, args...), maxDetail)}
}

func untrusted(format string, args ...any) error {
	return failed(signature.Untrusted, format, args...)
}

func invalid(format string, args ...any) error {
	return failed(signature.BundleMalformed, "a bundle of it: "+format, args...)
}

func otherIdentity(format string, args ...any) error {
	return failed(signature.OfOtherIdentity, "a bundle of it has "+format, args...)
}
