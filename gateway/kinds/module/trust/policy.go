// Package trust owns whose code modules may be: what ModuleTrusts and the file of
// --module-trust-file demand of modules, and whether content satisfies it.
//
// It must not know how content is kept, loaded or run.
package trust

import (
	"errors"
	"fmt"
	"path"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/signature"
)

// object is a ModuleTrust.
type object struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              spec `json:"spec"`
}

// spec is what a ModuleTrust demands.
type spec struct {
	Modules     match       `json:"modules,omitempty"`
	Authorities []authority `json:"authorities,omitempty"`
	Revoked     []string    `json:"revokedDigests,omitempty"`
}

// match is which modules are meant: all that satisfy every field that is set.
type match struct {
	Names    []string              `json:"names,omitempty"`
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	Hooks    []plugins.Hook        `json:"hooks,omitempty"`
	// Definitions are names of definitions that the module converts for.
	Definitions []string `json:"definitions,omitempty"`
}

// policy is a ModuleTrust, ready to judge.
type policy struct {
	// name is how it is told of.
	name     string
	spec     spec
	selector labels.Selector // nil selects all
	// authorities are those of the spec, and stated what else each has to state.
	authorities []signature.Authority
	stated      [][]signature.Stated
	// broken is why it cannot be read: then it lets no module serve.
	broken error
}

// read makes a policy ready. What is wrong is told by field.
func read(name string, s spec) (*policy, field.ErrorList) {
	p := &policy{name: name, spec: s}
	at := field.NewPath("spec")
	var errs field.ErrorList
	for i, pattern := range s.Modules.Names {
		if _, err := path.Match(pattern, ""); err != nil {
			errs = append(errs, field.Invalid(at.Child("modules", "names").Index(i), pattern, err.Error()))
		}
	}
	if s.Modules.Selector != nil {
		var err error
		if p.selector, err = metav1.LabelSelectorAsSelector(s.Modules.Selector); err != nil {
			errs = append(errs, field.Invalid(at.Child("modules", "selector"), s.Modules.Selector, err.Error()))
		}
	}
	for i, h := range s.Modules.Hooks {
		if !slices.Contains(plugins.Hooks(), h) {
			errs = append(errs, field.NotSupported(at.Child("modules", "hooks").Index(i), h, plugins.Hooks()))
		}
	}
	for i, a := range s.Authorities {
		at := at.Child("authorities").Index(i)
		one, wrong := a.read(at)
		p.authorities, errs = append(p.authorities, one), append(errs, wrong...)
		stated, wrong := readStatements(a.Statements, at.Child("statements"))
		p.stated, errs = append(p.stated, stated), append(errs, wrong...)
	}
	for i, d := range s.Revoked {
		if !digestForm.MatchString(d) {
			errs = append(errs, field.Invalid(at.Child("revokedDigests").Index(i), d, "it is no digest, sha256: and 64 hex digits"))
		}
	}
	if len(s.Authorities) == 0 && len(s.Revoked) == 0 {
		errs = append(errs, field.Required(at.Child("authorities"), "it demands nothing: it has to have authorities or revokedDigests"))
	}
	if len(errs) > 0 {
		p.broken = excerpt.Errors(errs)
	}
	return p, errs
}

// brokenPolicy is one of which nothing can be read.
func brokenPolicy(name string, err error) *policy { return &policy{name: name, broken: err} }

// matches tells whether it means a module with content.
func (p *policy) matches(s Subject, e *Evidence) bool {
	m := p.spec.Modules
	if len(m.Names) > 0 && !slices.ContainsFunc(m.Names, func(pattern string) bool { ok, _ := path.Match(pattern, s.Name); return ok }) {
		return false
	}
	if p.selector != nil && !p.selector.Matches(s.Labels) {
		return false
	}
	if len(m.Definitions) > 0 && !slices.ContainsFunc(m.Definitions, s.converts) {
		return false
	}
	return len(m.Hooks) == 0 || e.hooks == nil || slices.ContainsFunc(m.Hooks, func(h plugins.Hook) bool { return slices.Contains(e.hooks, h) })
}

// refuses is why content may not be a module; what it carries is by the signer of that
// name, if the policy demands any.
func (p *policy) refuses(s Subject, e *Evidence) (by *Signer, refused *signature.Error) {
	if p.broken != nil {
		return nil, &signature.Error{Reason: Unreadable, Detail: p.broken.Error()}
	}
	for _, d := range p.spec.Revoked {
		if d == e.digest || d == e.signed {
			return nil, &signature.Error{Reason: Revoked, Detail: fmt.Sprintf("the digest %s is revoked", d)}
		}
	}
	if len(p.authorities) == 0 || !p.matches(s, e) {
		return nil, nil
	}
	by, err := p.vouches(s, e)
	if errors.As(err, &refused) {
		return nil, refused
	}
	if err != nil {
		return nil, &signature.Error{Reason: Unreadable, Detail: err.Error()}
	}
	return by, nil
}
