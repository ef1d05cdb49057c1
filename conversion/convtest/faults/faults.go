// Package faults owns what a conversion webhook can reply that it must not, and
// what becomes of each: one table, whoever carries the replies.
//
// It imports nothing but the standard library, because it is linked into a
// guest. Only tests import it.
package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Fault is one way to misbehave.
type Fault struct {
	// Name is what an object's field "fault" says to get this reply.
	Name string
	// Want is the message of the refusal, after what converts and About; with
	// Whole it is all of it.
	Want  string
	Whole bool
	// Verdict says that these are the converter's own words, or its lack of them.
	Verdict bool
}

// About is what messages about the objects of this package say that they are
// about.
const About = " for example.com/v1beta1, Kind=Thing "

// Object asks for a fault; it is at example.com/v1beta1.
func Object(fault string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"example.com/v1beta1","fault":%q,"kind":"Thing","metadata":{"name":"a","namespace":"n","resourceVersion":"1","uid":"u"}}`, fault)
}

// All are the faults. The messages are kube-apiserver's.
var All = []Fault{
	{Name: "failed", Want: "failed: it is not my day", Verdict: true},
	{Name: "failed without words", Want: "failed: response.result.status was 'Failed', not 'Success'", Verdict: true},
	{Name: "no result", Want: "failed: response.result.status was '', not 'Success'", Verdict: true},
	{Name: "no response", Want: "failed: no response provided"},
	{Name: "another review", Want: "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got example.com/v1, Kind=Review"},
	{Name: "review of v1beta1", Want: "failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion"},
	{Name: "not JSON", Want: `failed: couldn't get version/kind; json parse error: invalid JSON at byte 1, near "{nonsense"`},
	{Name: "an array", Want: "failed: couldn't get version/kind; json parse error: expected an object, got an array"},
	{Name: "more after it", Want: "failed: couldn't get version/kind; json parse error: invalid character 'x' after top-level value"},
	{Name: "no objects", Want: "returned 0 objects, expected 1"},
	{Name: "two objects", Want: "returned 2 objects, expected 1"},
	{Name: "a string", Want: "json: cannot unmarshal string into Go value of type map[string]interface {}", Whole: true},
	{Name: "null", Want: "unexpected end of JSON input", Whole: true},
	{Name: "not converted", Want: "returned invalid object at index 0: invalid groupVersion (expected example.com/v1, received example.com/v1beta1)"},
	{Name: "another kind", Want: "returned invalid object at index 0: invalid kind (expected Thing, received Other)"},
	{Name: "another name", Want: "returned invalid object: must have the same name: a != b"},
	{Name: "another namespace", Want: "returned invalid object: must have the same namespace: n != b"},
	{Name: "another uid", Want: "returned invalid object: must have the same UID: u != b"},
	{Name: "no metadata", Want: "returned invalid object: must have the same name: a != "},
	{Name: "a bad label", Want: "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object"},
	{Name: "a field twice", Want: `duplicate field "fault"`, Whole: true},
}

// Reply answers a ConversionReview as the fault of its first object says.
func Reply(request []byte) []byte {
	var review struct {
		Request struct {
			UID     string            `json:"uid"`
			Objects []json.RawMessage `json:"objects"`
		} `json:"request"`
	}
	var object struct {
		Fault string `json:"fault"`
	}
	if json.Unmarshal(request, &review) != nil || len(review.Request.Objects) == 0 || json.Unmarshal(review.Request.Objects[0], &object) != nil {
		return []byte("this is no request")
	}
	converted := bytes.Replace(review.Request.Objects[0], []byte("example.com/v1beta1"), []byte("example.com/v1"), 1)
	good := reply(review.Request.UID, string(converted))
	change := func(old, new string) []byte {
		return []byte(reply(review.Request.UID, strings.Replace(string(converted), old, new, 1)))
	}
	switch object.Fault {
	case "failed":
		return []byte(strings.Replace(good, `"status":"Success"`, `"status":"Failed","message":"it is not my day"`, 1))
	case "failed without words":
		return []byte(strings.Replace(good, `"Success"`, `"Failed"`, 1))
	case "no result":
		return []byte(strings.Replace(good, `"result":{"status":"Success"},`, ``, 1))
	case "no response":
		return []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}`)
	case "another review":
		return []byte(`{"apiVersion":"example.com/v1","kind":"Review","response":{}}`)
	case "review of v1beta1":
		return []byte(strings.Replace(good, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1", 1))
	case "not JSON":
		return []byte("{nonsense")
	case "an array":
		return []byte("[]")
	case "more after it":
		return []byte(good + "xx")
	case "no objects":
		return []byte(reply(review.Request.UID, ""))
	case "two objects":
		return []byte(reply(review.Request.UID, string(converted)+","+string(converted)))
	case "a string":
		return []byte(reply(review.Request.UID, `"thing"`))
	case "null":
		return []byte(reply(review.Request.UID, "null"))
	case "not converted":
		return []byte(reply(review.Request.UID, string(review.Request.Objects[0])))
	case "another kind":
		return change(`"Thing"`, `"Other"`)
	case "another name":
		return change(`"name":"a"`, `"name":"b"`)
	case "another namespace":
		return change(`"namespace":"n"`, `"namespace":"b"`)
	case "another uid":
		return change(`"uid":"u"`, `"uid":"b"`)
	case "no metadata":
		return change(`"metadata"`, `"other"`)
	case "a bad label":
		return change(`"name":"a"`, `"labels":{"a":1},"name":"a"`)
	case "a field twice":
		return change(`"fault"`, `"fault":1,"fault"`)
	}
	return []byte(good)
}

func reply(uid, objects string) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":%q,"result":{"status":"Success"},"convertedObjects":[%s]}}`, uid, objects)
}
