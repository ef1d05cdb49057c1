package catalog

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

// digest identifies what a definition is compiled from.
type digest [sha256.Size]byte

// fingerprint tells whether two texts of a definition are compiled to the same.
type fingerprint struct {
	// form is how objects are shown, and ends whether there will be none.
	form digest
	ends digest
}

// ending is the fingerprint of what is the same but ends, and of no text.
func (f fingerprint) ending() fingerprint { return fingerprint{form: f.form} }

// newFingerprint digests what a compiled definition depends on, of its text.
func newFingerprint(text []byte) (out fingerprint, err error) {
	var about struct {
		Metadata struct {
			UID         string            `json:"uid"`
			Deleted     *string           `json:"deletionTimestamp"`
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
		Status struct {
			AcceptedNames json.RawMessage `json:"acceptedNames"`
			Conditions    []struct {
				Type   string `json:"type"`
				Status string `json:"status"`
			} `json:"conditions"`
		} `json:"status"`
	}
	meta, status := object.Field(text, "metadata"), object.Field(text, "status")
	for _, part := range []struct {
		text []byte
		into any
	}{{meta, &about.Metadata}, {status, &about.Status}} {
		if len(part.text) == 0 {
			continue
		}
		if err := json.Unmarshal(part.text, part.into); err != nil {
			return out, fmt.Errorf("custom resource definition: %w", err)
		}
	}
	states := map[string]string{}
	for _, c := range about.Status.Conditions {
		states[c.Type] = c.Status
	}
	ends := []any{about.Metadata.Deleted != nil, states[terminating]}
	delete(states, terminating)
	spec := sha256.Sum256(object.Field(text, "spec"))
	form := []any{about.Metadata.UID, about.Metadata.Annotations[crd.UnconvertibleAnnotation], spec[:], about.Status.AcceptedNames, states}
	if out.form, err = digestOf(form); err == nil {
		out.ends, err = digestOf(ends)
	}
	return out, err
}

// terminating is the type of the condition of a definition that is deleted.
const terminating = "Terminating"

func digestOf(about []any) (digest, error) {
	all, err := json.Marshal(about)
	if err != nil {
		return digest{}, fmt.Errorf("custom resource definition: %w", err)
	}
	return sha256.Sum256(all), nil
}
