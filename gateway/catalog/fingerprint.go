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

// fingerprint digests what a compiled definition depends on, of its text.
func fingerprint(text []byte) (out digest, err error) {
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
	spec := sha256.Sum256(object.Field(text, "spec"))
	all, err := json.Marshal([]any{about.Metadata.UID, about.Metadata.Deleted != nil, about.Metadata.Annotations[crd.UnconvertibleAnnotation], spec[:], about.Status.AcceptedNames, states})
	if err != nil {
		return out, fmt.Errorf("custom resource definition: %w", err)
	}
	return sha256.Sum256(all), nil
}
