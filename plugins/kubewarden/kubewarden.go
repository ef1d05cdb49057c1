package kubewarden

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// The operations of a policy.
const (
	Validate         = "validate"
	ValidateSettings = "validate_settings"
	ProtocolVersion  = "protocol_version"
)

// protocol is the one version of the protocol that there is.
const protocol = "v1"

// Protocol checks the answer to [ProtocolVersion].
func Protocol(answer []byte) error {
	var version string
	if json.Unmarshal(answer, &version) != nil || version != protocol {
		return fmt.Errorf("it speaks version %s of the protocol of policies, and not %q", excerpt.Of(string(answer), 100), protocol)
	}
	return nil
}

// Settings are what a policy is given for the configuration of a module: none is the
// empty object.
func Settings(config []byte) []byte {
	if len(bytes.TrimSpace(config)) == 0 {
		return []byte("{}")
	}
	return config
}

// Valid checks the answer to [ValidateSettings].
func Valid(answer []byte) error {
	var got struct {
		Valid   *bool   `json:"valid"`
		Message *string `json:"message"`
	}
	err := json.Unmarshal(answer, &got)
	switch {
	case err != nil:
		return fmt.Errorf("its answer about its settings cannot be read: %w", err)
	case got.Valid == nil:
		return errors.New("its answer about its settings does not say whether they are valid")
	case *got.Valid:
		return nil
	case got.Message == nil || *got.Message == "":
		return errors.New("it refuses its settings, and does not say why")
	}
	return fmt.Errorf("it refuses its settings: %s", excerpt.Of(*got.Message, maxWords))
}

// maxWords is how much of a message about settings is repeated.
const maxWords = 1000

// review is the part of an AdmissionReview that is looked at.
type review struct {
	APIVersion string          `json:"apiVersion"`
	Request    json.RawMessage `json:"request"`
}

// Request is what a policy is sent for a review, with the settings that it has.
func Request(admission, settings []byte) ([]byte, error) {
	var r review
	if err := json.Unmarshal(admission, &r); err != nil {
		return nil, fmt.Errorf("the review cannot be read: %w", err)
	}
	if !isObject(r.Request) {
		return nil, errors.New("the review has no request")
	}
	settings = Settings(settings)
	out := make([]byte, 0, len(r.Request)+len(settings)+30)
	out = append(append(out, `{"request":`...), r.Request...)
	out = append(append(out, `,"settings":`...), settings...)
	return append(out, '}'), nil
}

// answer is what a policy says of a request.
type answer struct {
	Accepted *bool           `json:"accepted"`
	Message  *string         `json:"message"`
	Code     *int32          `json:"code"`
	Mutated  json.RawMessage `json:"mutated_object"`
	// Annotations are for the audit log.
	Annotations json.RawMessage `json:"audit_annotations"`
	Warnings    json.RawMessage `json:"warnings"`
}

// maxTold is how many warnings are told, and how many annotations there may be.
const maxTold = 100

// walk calls each with the items of an array or object, and how many were before; none
// for null. Of those beyond [maxTold] nothing is made: there may be millions.
func walk(text json.RawMessage, opens byte, each func(item []byte) error) (n int, err error) {
	if len(text) == 0 || rawjson.IsNull(text) {
		return 0, nil
	}
	w, err := rawjson.Open(text, 0, true)
	if err != nil || w.IsObject() != (opens == '{') {
		return 0, fmt.Errorf("its answer cannot be read: %.20s does not begin with %c", text, opens)
	}
	for ; w.Next(); n++ {
		if item := w.Value(); n < maxTold {
			if err := each(item); err != nil {
				return n, fmt.Errorf("its answer cannot be read: %w", err)
			}
		}
	}
	return n, w.Err()
}

// told are the warnings and annotations of an answer.
func (a *answer) told() (warnings []string, annotations map[string]string, err error) {
	n, err := walk(a.Warnings, '[', func(item []byte) error {
		var text string
		err := json.Unmarshal(item, &text)
		warnings = append(warnings, text)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if n > maxTold {
		warnings = append(warnings, fmt.Sprintf("and %d more", n-maxTold))
	}
	n, err = walk(a.Annotations, '{', func([]byte) error { return nil })
	switch {
	case err != nil:
		return nil, nil, err
	case n > maxTold:
		return nil, nil, fmt.Errorf("its answer has %d audit annotations, more than %d", n, maxTold)
	case n > 0:
		if err := json.Unmarshal(a.Annotations, &annotations); err != nil {
			return nil, nil, fmt.Errorf("its answer cannot be read: %w", err)
		}
	}
	return warnings, annotations, nil
}

// The reply of a webhook.
type (
	reply struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Response   response `json:"response"`
	}
	response struct {
		UID         string            `json:"uid"`
		Allowed     bool              `json:"allowed"`
		Status      *status           `json:"status,omitempty"`
		PatchType   string            `json:"patchType,omitempty"`
		Patch       []byte            `json:"patch,omitempty"`
		Annotations map[string]string `json:"auditAnnotations,omitempty"`
		Warnings    []string          `json:"warnings,omitempty"`
	}
	status struct {
		Message string `json:"message,omitempty"`
		Code    int32  `json:"code,omitempty"`
	}
)

// Reply is the reply to a review that the answer of a policy is. An object that the
// policy changed becomes a patch: whether there may be one, who asks decides.
func Reply(admission, said []byte) ([]byte, error) {
	var r review
	var asked struct {
		UID    string          `json:"uid"`
		Object json.RawMessage `json:"object"`
	}
	if err := json.Unmarshal(admission, &r); err != nil {
		return nil, fmt.Errorf("the review cannot be read: %w", err)
	}
	if err := json.Unmarshal(r.Request, &asked); err != nil {
		return nil, fmt.Errorf("the review cannot be read: %w", err)
	}
	var a answer
	if err := json.Unmarshal(said, &a); err != nil {
		return nil, fmt.Errorf("its answer cannot be read: %w", err)
	}
	if a.Accepted == nil {
		return nil, errors.New("its answer does not say whether the request is accepted")
	}
	warnings, annotations, err := a.told()
	if err != nil {
		return nil, err
	}
	out := reply{APIVersion: r.APIVersion, Kind: "AdmissionReview", Response: response{
		UID: asked.UID, Allowed: *a.Accepted, Annotations: annotations, Warnings: warnings,
	}}
	if !*a.Accepted {
		out.Response.Status = &status{}
		if a.Message != nil {
			out.Response.Status.Message = *a.Message
		}
		if a.Code != nil {
			out.Response.Status.Code = *a.Code
		}
		return json.Marshal(out)
	}
	if len(a.Mutated) > 0 && string(a.Mutated) != "null" {
		patch, err := difference(asked.Object, a.Mutated)
		if err != nil {
			return nil, err
		}
		if patch != nil {
			out.Response.PatchType, out.Response.Patch = "JSONPatch", patch
		}
	}
	return json.Marshal(out)
}

func isObject(text json.RawMessage) bool { return len(text) > 0 && text[0] == '{' }
