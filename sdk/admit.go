package sdk

import (
	"encoding/base64"
	"errors"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// AdmitFunc judges one write. What it changes of r.Object is changed in what is
// stored, if a MutatingWebhookConfiguration asks; of a webhook that only
// validates the gateway accepts no changes. An error refuses the write, with
// its text.
type AdmitFunc func(r *Review) error

// Review is one write that a module is asked about. It is valid only during the
// call that it was handed to.
type Review struct {
	// Operation is CREATE, UPDATE or DELETE.
	Operation string
	// DryRun: nothing will be stored.
	DryRun bool
	// Object is the new state, nil for a deletion.
	Object *Object
	// Old is the present state, nil for a creation. Changes of it mean nothing.
	Old *Object

	request  *Object
	warnings []string
	// annotations are names and values, one after the other.
	annotations []string
}

// Warn sends a warning to the client, whatever becomes of the write.
func (r *Review) Warn(text string) { r.warnings = append(r.warnings, text) }

// Annotate puts an annotation into the record that an audit log keeps of the
// write. The last one of a name counts.
func (r *Review) Annotate(name, value string) { r.annotations = append(r.annotations, name, value) }

// Request names a field of the request as it was sent, such as "namespace" or
// "userInfo", "username". Changes of it mean nothing.
func (r *Review) Request(path ...string) Field { return r.request.At(path...) }

// admits is written by init functions only.
var admits AdmitFunc

// Admit registers the function that judges writes; there is one in a module.
// Call it from init.
func Admit(fn AdmitFunc) { admits = fn }

var errAdmission = errors.New("the request is not an AdmissionReview")

// HandleAdmission answers one AdmissionReview: what a module does with every
// request, and all that an HTTPS admission webhook has to do with the body of
// one. The reply is a fresh slice.
func HandleAdmission(request []byte) []byte {
	return appendAdmission(make([]byte, 0, 512), request)
}

func appendAdmission(dst, request []byte) []byte {
	uid, apiVersion := noUID, []byte(`"admission.k8s.io/v1"`)
	review, err := Parse(request)
	if err != nil {
		err = errAdmission
	} else {
		if v := review.At("request", "uid").Raw(); v != nil {
			uid = v
		}
		if v := review.At("apiVersion").Raw(); v != nil {
			apiVersion = v
		}
	}
	dst = append(append(dst, `{"kind":"AdmissionReview","apiVersion":`...), apiVersion...)
	dst = append(append(dst, `,"response":{"uid":`...), uid...)
	var r *Review
	if err == nil {
		r, err = openReview(review)
	}
	if err == nil {
		err = r.judge()
	}
	if err != nil {
		dst = append(dst, `,"allowed":false,"status":{"code":403,"reason":"Forbidden","message":`...)
		dst = append(rawjson.AppendString(dst, err.Error()), '}')
	} else {
		dst = r.appendPatch(append(dst, `,"allowed":true`...))
	}
	return append(r.appendAnnotations(r.appendWarnings(dst)), "}}"...)
}

func openReview(review *Object) (*Review, error) {
	request, err := Parse(review.At("request").Raw())
	if err != nil {
		return nil, errAdmission
	}
	r := &Review{request: request, Operation: request.text("operation")}
	r.DryRun, _ = request.At("dryRun").Bool()
	for name, into := range map[string]**Object{"object": &r.Object, "oldObject": &r.Old} {
		raw := request.At(name).Raw()
		if raw == nil || rawjson.IsNull(raw) {
			continue
		}
		if *into, err = Parse(raw); err != nil {
			return nil, errAdmission
		}
	}
	return r, nil
}

func (r *Review) judge() error {
	if admits == nil {
		return errors.New("this module judges no writes: it was built without sdk.Admit")
	}
	return admits(r)
}

// appendPatch compares the object with what was sent.
func (r *Review) appendPatch(dst []byte) []byte {
	if r.Object == nil {
		return dst
	}
	patch := appendChanges([]byte{'['}, "", r.request.At("object").Raw(), r.Object.JSON())
	if len(patch) == 1 {
		return dst
	}
	dst = append(dst, `,"patchType":"JSONPatch","patch":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, append(patch, ']'))
	return append(dst, '"')
}

func (r *Review) appendWarnings(dst []byte) []byte {
	if r == nil || len(r.warnings) == 0 {
		return dst
	}
	dst = append(dst, `,"warnings":[`...)
	for i, w := range r.warnings {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, w)
	}
	return append(dst, ']')
}

func (r *Review) appendAnnotations(dst []byte) []byte {
	if r == nil || len(r.annotations) == 0 {
		return dst
	}
	dst = append(dst, `,"auditAnnotations":{`...)
	for i := 0; i < len(r.annotations); i += 2 {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, r.annotations[i]), ':')
		dst = rawjson.AppendString(dst, r.annotations[i+1])
	}
	return append(dst, '}')
}
