// Package review owns the ConversionReview message: writing requests and
// reading replies without decoding the objects they carry.
//
// It must not know how a message travels: conversion/webhook sends it over
// HTTPS, plugins/registry into a Wasm module, and both get the same checks and
// the same error texts, which are kube-apiserver's.
package review

import (
	"errors"
	"fmt"

	"github.com/wasmgate/wasmgate/excerpt"
	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// Group is the API group of ConversionReview.
const Group = "apiextensions.k8s.io"

// The review versions that are spoken.
const (
	V1      = "v1"
	V1beta1 = "v1beta1"
)

// Choose returns the first of a converter's review versions that is spoken
// here.
func Choose(versions []string) (string, error) {
	for _, v := range versions {
		if v == V1 || v == V1beta1 {
			return v, nil
		}
	}
	return "", errors.New("no supported conversion review versions")
}

// AppendRequest appends a ConversionReview of the given version that asks for
// objects at desired.
func AppendRequest(dst []byte, version, uid, desired string, objects [][]byte) []byte {
	dst = append(dst, `{"apiVersion":"apiextensions.k8s.io/`...)
	dst = append(dst, version...)
	dst = append(dst, `","kind":"ConversionReview","request":{"uid":`...)
	dst = rawjson.AppendString(dst, uid)
	dst = append(dst, `,"desiredAPIVersion":`...)
	dst = rawjson.AppendString(dst, desired)
	dst = append(dst, `,"objects":[`...)
	for i, o := range objects {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, o...)
	}
	return append(dst, "]}}"...)
}

// RequestSize is about how many bytes AppendRequest writes.
func RequestSize(objects [][]byte) int {
	n := 256 + len(objects)
	for _, o := range objects {
		n += len(o)
	}
	return n
}

// MaxMessage is the most bytes of a converter's message that are repeated.
const MaxMessage = 4 << 10

// Failure is a reply whose result is not Success. Its text is the converter's
// message where there is one.
type Failure struct {
	Status  string
	Message string
}

// Error returns the converter's message.
func (f *Failure) Error() string {
	if f.Message != "" {
		return f.Message
	}
	return fmt.Sprintf("response.result.status was '%s', not 'Success'", f.Status)
}

// Verdict marks the failure as an answer that was given in good order.
func (f *Failure) Verdict() bool { return true }

// reply is what is read of a ConversionReview.
type reply struct {
	apiVersion, kind string
	response         bool
	uid              string
	status, message  string
	objects          [][]byte
}

// ParseResponse reads the reply to a request with that version and uid, and
// returns the converted objects as parts of body. What the objects hold is not
// looked at, except that all of body is JSON.
func ParseResponse(body []byte, version, uid string) ([][]byte, error) {
	var r reply
	if err := r.parse(body); err != nil {
		return nil, err
	}
	if err := r.checkType(version); err != nil {
		return nil, err
	}
	if !r.response {
		return nil, errors.New("no response provided")
	}
	// v1beta1 never had its uid checked, and there are webhooks that do not
	// send one.
	if version == V1 && r.uid != uid {
		return nil, fmt.Errorf("expected response.uid=%q, got %q", uid, excerpt.Of(r.uid, MaxMessage))
	}
	if r.status != "Success" {
		return nil, &Failure{Status: excerpt.Of(r.status, MaxMessage), Message: excerpt.Of(r.message, MaxMessage)}
	}
	return r.objects, nil
}

func (r *reply) checkType(version string) error {
	want := Group + "/" + version
	if r.apiVersion == want && r.kind == "ConversionReview" {
		return nil
	}
	other := V1
	if version == V1 {
		other = V1beta1
	}
	switch {
	case version == V1beta1 && r.apiVersion == "" && r.kind == "":
		return nil
	case r.apiVersion == Group+"/"+other && r.kind == "ConversionReview":
		return fmt.Errorf("converting (%s.ConversionReview) to (%s.ConversionReview): unknown conversion", other, version)
	}
	got := r.apiVersion
	if got == "" {
		got = "/"
	}
	return fmt.Errorf("expected webhook response of %s, Kind=ConversionReview, got %s, Kind=%s", want, excerpt.Of(got, MaxMessage), excerpt.Of(r.kind, MaxMessage))
}

func (r *reply) parse(body []byte) error {
	end, err := eachMember(body, 0, func(w *rawjson.Walk) error {
		switch key := w.Key(); {
		case rawjson.Equal(key, "apiVersion"):
			return readString(w, "apiVersion", &r.apiVersion)
		case rawjson.Equal(key, "kind"):
			return readString(w, "kind", &r.kind)
		case rawjson.Equal(key, "response"):
			return r.parseResponse(body, w)
		}
		w.Value()
		return nil
	})
	if err == nil && rawjson.Space(body, end) != len(body) {
		err = fmt.Errorf("invalid character %q after top-level value", body[rawjson.Space(body, end)])
	}
	if err != nil {
		return syntaxError(body, err)
	}
	return nil
}

func (r *reply) parseResponse(body []byte, w *rawjson.Walk) error {
	if skipNull(body, w) {
		return w.Err()
	}
	r.response = true
	end, err := eachMember(body, w.At(), func(w *rawjson.Walk) error {
		switch key := w.Key(); {
		case rawjson.Equal(key, "uid"):
			return readString(w, "response.uid", &r.uid)
		case rawjson.Equal(key, "result"):
			return r.parseResult(body, w)
		case rawjson.Equal(key, "convertedObjects"):
			return readObjects(body, w, "response.convertedObjects", &r.objects)
		}
		w.Value()
		return nil
	})
	w.Resume(end)
	return err
}

func (r *reply) parseResult(body []byte, w *rawjson.Walk) error {
	if skipNull(body, w) {
		return w.Err()
	}
	end, err := eachMember(body, w.At(), func(w *rawjson.Walk) error {
		switch key := w.Key(); {
		case rawjson.Equal(key, "status"):
			return readString(w, "response.result.status", &r.status)
		case rawjson.Equal(key, "message"):
			return readString(w, "response.result.message", &r.message)
		}
		w.Value()
		return nil
	})
	w.Resume(end)
	return err
}

// readObjects reads the items of an array, as parts of body.
func readObjects(body []byte, w *rawjson.Walk, name string, into *[][]byte) error {
	*into = (*into)[:0]
	if skipNull(body, w) {
		return w.Err()
	}
	list, err := rawjson.Open(body, w.At(), false)
	if err != nil || list.IsObject() {
		return fmt.Errorf("%s is not an array", name)
	}
	for list.Next() {
		if v := list.Value(); v != nil {
			*into = append(*into, v)
		}
	}
	w.Resume(list.End())
	return list.Err()
}

// eachMember calls fn for every member of the object at i; fn has to pass the
// value. It returns the position after the object.
func eachMember(body []byte, i int, fn func(*rawjson.Walk) error) (int, error) {
	w, err := rawjson.Open(body, i, false)
	if err != nil {
		return i, err
	}
	if !w.IsObject() {
		return i, errors.New("expected an object, got an array")
	}
	for w.Next() {
		if err := fn(&w); err != nil {
			return i, err
		}
	}
	return w.End(), w.Err()
}

// skipNull passes the current value when it is null.
func skipNull(body []byte, w *rawjson.Walk) bool {
	if at := w.At(); at >= len(body) || body[at] != 'n' {
		return false
	}
	w.Value()
	return true
}

func readString(w *rawjson.Walk, name string, into *string) error {
	value := w.Value()
	if value == nil {
		return w.Err()
	}
	if rawjson.IsNull(value) {
		return nil
	}
	s, ok := rawjson.String(value)
	if !ok {
		return fmt.Errorf("%s is not a string", name)
	}
	*into = s
	return nil
}
