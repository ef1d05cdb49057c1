// Package answer owns the answers of a webhook that says what the object that it
// is asked about tells it to say, and about other kinds than ConfigMaps, what it
// was asked. The stories of package admissions ask it, as an
// HTTPS server and as a module; it must not know as which.
package answer

import (
	"encoding/json"
	"fmt"
)

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
			UID       string                `json:"uid"`
			Kind      struct{ Kind string } `json:"kind"`
			Object    object                `json:"object"`
			OldObject object                `json:"oldObject"`
		} `json:"request"`
	}
	if err := json.Unmarshal(review, &in); err != nil {
		return nil, false
	}
	if in.Request.Kind.Kind != "ConfigMap" {
		return asked(review)
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

// asked allows a request, and warns of what was asked: all but who asks, and
// what no two servers, and no two moments, share.
func asked(review []byte) (reply []byte, ok bool) {
	var in struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Request    map[string]any `json:"request"`
	}
	if err := json.Unmarshal(review, &in); err != nil {
		return nil, false
	}
	uid := in.Request["uid"]
	for _, field := range []string{"userInfo", "requestKind", "requestResource", "requestSubResource"} {
		delete(in.Request, field)
	}
	forget(in.Request)
	text, err := json.Marshal(in.Request)
	if err != nil {
		return nil, false
	}
	reply, err = json.Marshal(map[string]any{"apiVersion": in.APIVersion, "kind": in.Kind, "response": map[string]any{
		"uid": uid, "allowed": true, "warnings": []string{fmt.Sprintf("by %s: %s", in.APIVersion, text)},
	}})
	return reply, err == nil
}

func forget(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time"} {
			delete(v, field)
		}
		for _, one := range v {
			forget(one)
		}
	case []any:
		for _, one := range v {
			forget(one)
		}
	}
}
