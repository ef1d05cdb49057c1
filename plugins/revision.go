package plugins

import (
	"bytes"
	"slices"
)

// Revision is everything that makes a module behave as it does.
type Revision struct {
	// Digest is the digest of Bytes, "sha256:" and hex, as whoever got the
	// bytes has made sure.
	Digest string
	// Bytes are the module; nobody changes them.
	Bytes []byte
	// Config is JSON for the module's instances; empty for none.
	Config []byte
	Limits Limits
	// Attempt is any text. Content that a gateway ended with is loaded again
	// only in another attempt.
	Attempt string
	// Consent, if not nil, is asked with the hooks that the module turned out to
	// have, just before it takes over; an error keeps the revision before.
	Consent func(hooks []Hook) error
	// Branches are told which branches of the code calls take; nil for what serves.
	Branches *Branches
}

// Same says whether two revisions behave the same; attempts and
// who consents do not matter.
func (r Revision) Same(other Revision) bool {
	return r.Digest == other.Digest && bytes.Equal(r.Config, other.Config) && r.Limits == other.Limits
}

// Status says what is known of a module.
type Status struct {
	// Serving is the revision that serves, without its bytes; nil for none.
	// The fields up to Description are about it.
	Serving *Revision
	Size    int
	ABI     int
	// Dialect is whose ABI that is.
	Dialect Dialect
	Hooks   []Hook
	// Conversions are what the module says that it converts, nil when it does not.
	Conversions []Conversion
	// Description is the JSON object of the module about itself, nil for none.
	Description []byte
	// Failure is why the last revision that was set does not serve; nil when it
	// does. FailedDigest is that revision's.
	Failure      *LoadError
	FailedDigest string
}

// Digest is that of the revision that serves, "" for none.
func (s Status) Digest() string {
	if s.Serving == nil {
		return ""
	}
	return s.Serving.Digest
}

// Clone is a copy that shares nothing that anybody changes.
func (s Status) Clone() Status {
	s.Hooks, s.Conversions, s.Description = slices.Clone(s.Hooks), slices.Clone(s.Conversions), bytes.Clone(s.Description)
	return s
}
