package sdk

import (
	"errors"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// PrioritizeFunc orders the versions of an API group, the preferred one first.
// They come in the Kubernetes order: v2, v1, v2beta1, v1beta1, v1alpha1, and
// then all other names by alphabet. It returns the same ones, each once; it may
// change the slice that it gets. The result must depend on the arguments alone.
type PrioritizeFunc func(group string, versions []string) []string

// prioritizes is written by init functions only.
var prioritizes PrioritizeFunc

// Prioritize registers the function that orders versions; there is one in a
// module. Call it from init.
func Prioritize(fn PrioritizeFunc) { prioritizes = fn }

var errPriority = errors.New("the request is not a VersionPriorityReview")

// HandlePriority answers one VersionPriorityReview: what a module does with
// every request. A module without [Prioritize] leaves the versions as they are.
// Of what is not a review the reply says so, and has no versions. It is a fresh
// slice.
func HandlePriority(request []byte) []byte {
	return appendPriority(make([]byte, 0, 512), request)
}

func appendPriority(dst, request []byte) []byte {
	uid, group, versions, err := readPriority(request)
	dst = append(append(dst, `{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","response":{"uid":`...), uid...)
	if err != nil {
		return append(rawjson.AppendString(append(dst, `,"message":`...), err.Error()), "}}"...)
	}
	if prioritizes != nil {
		versions = prioritizes(group, versions)
	}
	dst = append(dst, `,"versions":[`...)
	for i, v := range versions {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, v)
	}
	return append(dst, "]}}"...)
}

func readPriority(request []byte) (uid []byte, group string, versions []string, err error) {
	review, err := Parse(request)
	if err != nil {
		return noUID, "", nil, errPriority
	}
	if uid = review.At("request", "uid").Raw(); uid == nil {
		uid = noUID
	}
	group, ok := review.At("request", "group").String()
	list := review.At("request", "versions").Raw()
	if !ok || list == nil {
		return uid, "", nil, errPriority
	}
	w, err := rawjson.Open(list, 0, true)
	if err != nil || w.IsObject() {
		return uid, "", nil, errPriority
	}
	for w.Next() {
		v, ok := rawjson.String(w.Value())
		if !ok {
			return uid, "", nil, errPriority
		}
		versions = append(versions, v)
	}
	return uid, group, versions, nil
}
