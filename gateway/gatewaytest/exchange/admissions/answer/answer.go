// Package answer owns the answers of a webhook that says what the object that it
// is asked about tells it to say. The stories of package admissions ask it, as an
// HTTPS server and as a module; it must not know as which.
package answer

import "encoding/json"

// Fails is what an object tells a webhook that is to give no answer at all.
const Fails = "!"

// Review answers an AdmissionReview by data.answer of its object: the fields of
// the response, beside the uid; without it the request is allowed. ok is false
// for one that is to give no answer.
func Review(review []byte) (reply []byte, ok bool) {
	var in struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Request    struct {
			UID       string `json:"uid"`
			Object    object `json:"object"`
			OldObject object `json:"oldObject"`
		} `json:"request"`
	}
	if err := json.Unmarshal(review, &in); err != nil {
		return nil, false
	}
	text := in.Request.Object.Data["answer"]
	if in.Request.Object.Data == nil {
		text = in.Request.OldObject.Data["answer"]
	}
	response := map[string]any{"uid": in.Request.UID, "allowed": true}
	if text == Fails {
		return nil, false
	}
	if text != "" && json.Unmarshal([]byte(text), &response) != nil {
		return nil, false
	}
	reply, err := json.Marshal(map[string]any{"apiVersion": in.APIVersion, "kind": in.Kind, "response": response})
	return reply, err == nil
}

type object struct {
	Data map[string]string `json:"data"`
}
