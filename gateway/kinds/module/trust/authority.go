package trust

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/plugins/signature/keyless"
)

// authority is whose signature counts: one of Key and Keyless is set.
type authority struct {
	Name    string    `json:"name"`
	Key     string    `json:"key,omitempty"`
	Keyless *identity `json:"keyless,omitempty"`
	// Images: what it signed of an image counts, too.
	Images bool `json:"images,omitempty"`
	// Provenance has to be stated by it, and Statements.
	Provenance *provenance `json:"provenance,omitempty"`
	Statements []statement `json:"statements,omitempty"`
}

// identity is who signs without a key: whom certificates of roots name.
type identity struct {
	Issuer         string `json:"issuer,omitempty"`
	IssuerPattern  string `json:"issuerPattern,omitempty"`
	Subject        string `json:"subject,omitempty"`
	SubjectPattern string `json:"subjectPattern,omitempty"`
	// TrustedRoot is Sigstore's trusted_root.json; or Certificates and Logs are PEM.
	TrustedRoot  string `json:"trustedRoot,omitempty"`
	Certificates string `json:"certificates,omitempty"`
	Logs         string `json:"logs,omitempty"`
}

// provenance is what has to be stated of where a module comes from.
type provenance struct {
	PredicateType string   `json:"predicateType,omitempty"`
	Builders      []string `json:"builders"`
}

// read makes an authority ready. What is wrong is told by field.
func (a authority) read(at *field.Path) (one signature.Authority, errs field.ErrorList) {
	if a.Provenance != nil && len(a.Provenance.Builders) == 0 {
		errs = append(errs, field.Required(at.Child("provenance", "builders"), "who may have made the modules; [\"*\"] for anybody"))
	}
	if (a.Key == "") == (a.Keyless == nil) {
		return nil, append(errs, field.Invalid(at, field.OmitValueType{}, "exactly one of key and keyless has to be set"))
	}
	if a.Keyless != nil {
		one, wrong := a.Keyless.read(at.Child("keyless"))
		return one, append(errs, wrong...)
	}
	key, err := signature.ParsePublicKey([]byte(a.Key))
	if err != nil {
		errs = append(errs, field.Invalid(at.Child("key"), field.OmitValueType{}, err.Error()))
	}
	return key, errs
}

func (i *identity) read(at *field.Path) (one signature.Authority, errs field.ErrorList) {
	var roots *keyless.Roots
	var err error
	switch byPEM := i.Certificates != "" || i.Logs != ""; {
	case (i.TrustedRoot != "") == byPEM:
		return nil, field.ErrorList{field.Invalid(at, field.OmitValueType{}, "either trustedRoot or certificates and logs have to be set")}
	case byPEM:
		roots, err = keyless.ReadPEM([]byte(i.Certificates), []byte(i.Logs))
	default:
		at := at.Child("trustedRoot")
		if roots, err = keyless.ReadTrustedRoot([]byte(i.TrustedRoot)); err != nil {
			return nil, field.ErrorList{field.Invalid(at, field.OmitValueType{}, err.Error())}
		}
	}
	if err == nil {
		one, err = keyless.NewAuthority(roots, keyless.Identity{Issuer: i.Issuer, IssuerPattern: i.IssuerPattern, Subject: i.Subject, SubjectPattern: i.SubjectPattern})
	}
	if err != nil {
		return nil, field.ErrorList{field.Invalid(at, field.OmitValueType{}, err.Error())}
	}
	return one, nil
}

// vouches finds an authority that signed content, or an image with it.
func (p *policy) vouches(s Subject, e *Evidence) (*Signer, error) {
	worst := e.malformed
	if worst == nil {
		by, err := p.signed(e.signatures, func(authority) (signature.Demand, bool) {
			return signature.Demand{Digest: e.signed, Name: s.Name}, true
		})
		if err == nil {
			return by, nil
		}
		worst = err
	}
	for _, b := range s.Beside {
		if !b.Names(e.digest) {
			continue
		}
		by, err := p.signed(b.Signatures, func(a authority) (signature.Demand, bool) {
			return signature.Demand{Digest: b.Digest(), Image: true}, a.Images
		})
		if by != nil {
			return by, nil
		}
		if unsigned(worst) && err != nil {
			worst = err
		}
	}
	return nil, worst
}

// signed finds an authority whose signature satisfies what is demanded of it; neither it
// nor an error where none is asked.
func (p *policy) signed(all []signature.Signature, of func(authority) (signature.Demand, bool)) (*Signer, error) {
	var worst error
	for i, a := range p.spec.Authorities {
		demand, ok := of(a)
		if !ok {
			continue
		}
		demand.Provenance, demand.Statements = a.demands(), p.stated[i]
		by, err := demand.Met(all, p.authorities[i])
		if err == nil {
			return &Signer{Trust: p.name, Authority: a.Name, Key: by.Key, Issuer: by.Issuer, Subject: by.Subject}, nil
		}
		worst = signature.Nearest(worst, err)
	}
	return nil, worst
}

// unsigned tells that content carries no signature at all, so that it matters more what is
// wrong with those of its image.
func unsigned(err error) bool {
	e, ok := err.(*signature.Error)
	return ok && e.Reason == signature.Unsigned
}

func (a authority) demands() *signature.Provenance {
	if a.Provenance == nil {
		return nil
	}
	return &signature.Provenance{PredicateType: a.Provenance.PredicateType, Builders: a.Provenance.Builders}
}
