package signature

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// statementType is the type of the content of an envelope with a statement.
const statementType = "application/vnd.in-toto+json"

// The predicates by which whoever states them vouches for the subject. Others tell
// something of it, which need not be good.
const (
	signPredicate = "https://sigstore.dev/cosign/sign/v1"
	// SLSA is the predicate that provenance is told by if a [Provenance] does not say.
	SLSA    = "https://slsa.dev/provenance/v1"
	oldSLSA = "https://slsa.dev/provenance/v0.2"
)

// Statement is one of in-toto: something that is said of subjects.
type Statement struct {
	Type    string `json:"_type"`
	Subject []struct {
		Digest map[string]string `json:"digest"`
	} `json:"subject"`
	PredicateType string `json:"predicateType"`
	// Predicate is what is said, in a form that its type tells.
	Predicate json.RawMessage `json:"predicate"`
}

// provenance is the predicate of SLSA, as much as matters.
type provenance struct {
	Builder    builder `json:"builder"` // before SLSA 1.0
	RunDetails struct {
		Builder builder `json:"builder"`
	} `json:"runDetails"`
}

type builder struct {
	ID string `json:"id"`
}

// ReadStatement reads the content of an envelope, which has a type. The error is an
// *[Error].
func ReadStatement(contentType string, text []byte) (*Statement, error) {
	if contentType != statementType {
		return nil, &Error{PayloadMalformed, fmt.Sprintf("what was signed has the type %q, not %q", contentType, statementType)}
	}
	s := &Statement{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, &Error{PayloadMalformed, "the statement that was signed cannot be read: " + err.Error()}
	}
	if s.Type != "https://in-toto.io/Statement/v1" && s.Type != "https://in-toto.io/Statement/v0.1" {
		return nil, &Error{PayloadMalformed, fmt.Sprintf("the statement that was signed has the type %q, which is none of in-toto", s.Type)}
	}
	return s, nil
}

// about tells that a digest is one of the subjects'.
func (s *Statement) about(digest string) bool {
	for _, one := range s.Subject {
		if "sha256:"+one.Digest["sha256"] == digest {
			return true
		}
	}
	return false
}

// BuiltBy is who made the subjects, "" where it does not say.
func (s *Statement) BuiltBy() string {
	var p provenance
	if json.Unmarshal(s.Predicate, &p) != nil {
		return ""
	}
	if id := p.RunDetails.Builder.ID; id != "" {
		return id
	}
	return p.Builder.ID
}

// Provenance is what has to be stated of where a module comes from.
type Provenance struct {
	// PredicateType is that of the statement, "" for [SLSA].
	PredicateType string
	// Builders are the IDs of who may have made it, in which * stands for anything.
	Builders []string
}

func (p Provenance) predicate() string {
	if p.PredicateType == "" {
		return SLSA
	}
	return p.PredicateType
}

// by tells that a builder is one of those.
func (p Provenance) by(id string) bool {
	return id != "" && slices.ContainsFunc(p.Builders, func(pattern string) bool {
		form := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`)
		ok, err := regexp.MatchString("^(?s:"+form+")$", id)
		return ok && err == nil
	})
}

// Stated is what else has to be stated of a module.
type Stated struct {
	PredicateType string
	// Holds tells whether a predicate, which is JSON, is good; nil for any.
	Holds func(predicate []byte) (bool, error)
}

// vouches is what is wrong with a statement that is to count as a signature.
func (s *Statement) vouches(digest string) error {
	if err := s.of(digest); err != nil {
		return err
	}
	if !slices.Contains([]string{signPredicate, SLSA, oldSLSA}, s.PredicateType) {
		return &Error{PayloadMalformed, fmt.Sprintf("a statement of the type %q vouches for nothing", s.PredicateType)}
	}
	return nil
}

func (s *Statement) of(digest string) error {
	if !s.about(digest) {
		return &Error{OfOtherContent, fmt.Sprintf("none of the %d subjects of the statement is %s", len(s.Subject), digest)}
	}
	return nil
}

// accepts is what is wrong with what somebody says of a digest, nil where provenance was
// stated.
func (p Provenance) accepts(c Claim, digest string) error {
	s := c.Statement
	if s == nil {
		return &Error{NoProvenance, "it is signed, but nobody who is trusted states where it comes from"}
	}
	if err := s.of(digest); err != nil {
		return err
	}
	switch by := s.BuiltBy(); {
	case s.PredicateType != p.predicate():
		return &Error{NoProvenance, fmt.Sprintf("what is stated of it is a %q, not a %q", s.PredicateType, p.predicate())}
	case !p.by(by):
		return &Error{OtherProvenance, fmt.Sprintf("it was made by %q, which is none of the builders that are trusted", by)}
	}
	return nil
}

// accepts is [Provenance.accepts] of any predicate.
func (p Stated) accepts(c Claim, digest string) error {
	s := c.Statement
	if s == nil {
		return &Error{NoStatement, fmt.Sprintf("it is signed, but nobody who is trusted states a %q of it", p.PredicateType)}
	}
	if err := s.of(digest); err != nil {
		return err
	}
	if s.PredicateType != p.PredicateType {
		return &Error{NoStatement, fmt.Sprintf("what is stated of it is a %q, not a %q", s.PredicateType, p.PredicateType)}
	}
	if p.Holds == nil {
		return nil
	}
	switch good, err := p.Holds(s.Predicate); {
	case err != nil:
		return &Error{OtherStatement, fmt.Sprintf("whether a %q that is stated of it meets the condition is not known: %v", s.PredicateType, err)}
	case !good:
		return &Error{OtherStatement, fmt.Sprintf("a %q that is stated of it does not meet the condition", s.PredicateType)}
	}
	return nil
}
