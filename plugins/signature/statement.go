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
	Predicate     struct {
		Builder    builder `json:"builder"` // before SLSA 1.0
		RunDetails struct {
			Builder builder `json:"builder"`
		} `json:"runDetails"`
	} `json:"predicate"`
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

// builtBy is who made the subjects, "" where it does not say.
func (s *Statement) builtBy() string {
	if id := s.Predicate.RunDetails.Builder.ID; id != "" {
		return id
	}
	return s.Predicate.Builder.ID
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

// acceptsStatement is what is wrong with what a trusted authority states.
func (d Demand) acceptsStatement(s *Statement) error {
	if !s.about(d.Digest) {
		return &Error{OfOtherContent, fmt.Sprintf("none of the %d subjects of the statement is %s", len(s.Subject), d.Digest)}
	}
	p := d.Provenance
	switch {
	case p == nil && !slices.Contains([]string{signPredicate, SLSA, oldSLSA}, s.PredicateType):
		return &Error{PayloadMalformed, fmt.Sprintf("a statement of the type %q vouches for nothing", s.PredicateType)}
	case p == nil:
	case s.PredicateType != p.predicate():
		return &Error{NoProvenance, fmt.Sprintf("what is stated of it is a %q, not a %q", s.PredicateType, p.predicate())}
	case !p.by(s.builtBy()):
		return &Error{OtherProvenance, fmt.Sprintf("it was made by %q, which is none of the builders that are trusted", s.builtBy())}
	}
	return nil
}
