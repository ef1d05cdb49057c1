package review

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// The documents' example, without comments and indentation.
const documented = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"705ab4f5-6393-11e8-b7cc-42010a800002","desiredAPIVersion":"example.com/v1","objects":[` +
	`{"kind":"CronTab","apiVersion":"example.com/v1beta1","metadata":{"creationTimestamp":"2019-09-04T14:03:02Z","name":"local-crontab","namespace":"default","resourceVersion":"143","uid":"3415a7fc-162b-4300-b5da-fd6083580d66"},"hostPort":"localhost:1234"},` +
	`{"kind":"CronTab","apiVersion":"example.com/v1beta1","metadata":{"creationTimestamp":"2019-09-03T13:02:01Z","name":"remote-crontab","resourceVersion":"12893","uid":"359a83ec-b575-460d-b553-d859cedde8a0"},"hostPort":"example.com:2345"}]}}`

func TestRequest_CRD13(t *testing.T) {
	var review apiextensionsv1.ConversionReview
	if err := json.Unmarshal([]byte(documented), &review); err != nil {
		t.Fatal(err)
	}
	var objects [][]byte
	for _, o := range review.Request.Objects {
		objects = append(objects, o.Raw)
	}
	got := AppendRequest(nil, V1, string(review.Request.UID), review.Request.DesiredAPIVersion, objects)
	if string(got) != documented {
		t.Errorf("got  %s\nwant %s", got, documented)
	}
}

func TestResponse_CRD14_CRD15_CRD16(t *testing.T) {
	ok := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"u","result":{"status":"Success"},"convertedObjects":[{"a":1}, {"b":[]} ]}}`
	for _, c := range []struct{ name, body, version, want string }{
		{"success", ok, V1, ""},
		{"success, other order and white space", "\n{ \"response\" : {\"convertedObjects\":[ {\"a\":1},{\"b\":[]}],\"uid\":\"\\u0075\",\"result\":{\"metadata\":{},\"status\":\"Success\"}}, \"kind\":\"ConversionReview\",\"apiVersion\":\"apiextensions.k8s.io/v1\"}\n", V1, ""},
		{"v1beta1 without uid", strings.NewReplacer("/v1", "/v1beta1", `"uid":"u",`, "").Replace(ok), V1beta1, ""},
		{"other version", strings.Replace(ok, "/v1", "/v1beta1", 1), V1, "converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion"},
		{"no type", strings.Replace(ok, `"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview",`, "", 1), V1, "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind="},
		{"other kind", strings.Replace(ok, "ConversionReview", "Foo", 1), V1, "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got apiextensions.k8s.io/v1, Kind=Foo"},
		{"uid", strings.Replace(ok, `"uid":"u"`, `"uid":"x"`, 1), V1, `expected response.uid="u", got "x"`},
		{"no response", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}`, V1, "no response provided"},
		{"null response", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":null}`, V1, "no response provided"},
		{"failed", strings.Replace(ok, `"status":"Success"`, `"status":"Failed","message":"hostPort could not be parsed"`, 1), V1, "hostPort could not be parsed"},
		{"failed without message", strings.Replace(ok, "Success", "Failed", 1), V1, "response.result.status was 'Failed', not 'Success'"},
		{"no result", strings.Replace(ok, `"result":{"status":"Success"},`, "", 1), V1, "response.result.status was '', not 'Success'"},
		{"not JSON", "{nope", V1, `couldn't get version/kind; json parse error: invalid JSON at byte 1, near "{nope"`},
		{"trailing", ok + "xx", V1, "couldn't get version/kind; json parse error: invalid character 'x' after top-level value"},
		{"array", "[]", V1, "couldn't get version/kind; json parse error: expected an object, got an array"},
		{"an object that is not JSON", strings.Replace(ok, `{"a":1}`, `{"a":tru}`, 1), V1, `couldn't get version/kind; json parse error: invalid JSON at byte 143, near "ertedObjects\":[{\"a\":tru}, {\"b\":[]} ]}}"`},
		{"a field that is not JSON", strings.Replace(ok, `"uid":"u"`, `"uid":"u","x":tru`, 1), V1, `couldn't get version/kind; json parse error: invalid JSON at byte 92, near "nse\":{\"uid\":\"u\",\"x\":tru,\"result\":{\"statu"`},
		{"status", strings.Replace(ok, `"Success"`, `1`, 1), V1, "couldn't get version/kind; json parse error: response.result.status is not a string"},
		{"message", strings.Replace(ok, `"Success"`, `"Success","message":{}`, 1), V1, "couldn't get version/kind; json parse error: response.result.message is not a string"},
		{"null result", strings.Replace(ok, `{"status":"Success"}`, `null`, 1), V1, "response.result.status was '', not 'Success'"},
		{"objects", strings.Replace(ok, `[{"a":1}, {"b":[]} ]`, `{}`, 1), V1, "couldn't get version/kind; json parse error: response.convertedObjects is not an array"},
	} {
		t.Run(c.name, func(t *testing.T) {
			objects, err := ParseResponse([]byte(c.body), c.version, "u")
			if c.want == "" {
				if err != nil || string(bytes.Join(objects, []byte("|"))) != `{"a":1}|{"b":[]}` {
					t.Errorf("got %q, %v", objects, err)
				}
			} else if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// A reply that was cut off anywhere is refused.
func TestReplyThatIsCutOff_CRD14(t *testing.T) {
	const whole = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"u","result":{"status":"Success"},"convertedObjects":[{"a":1}]}}`
	for n := range whole {
		if objects, err := ParseResponse([]byte(whole[:n]), V1, "u"); err == nil {
			t.Errorf("%s: got %q", whole[:n], objects)
		}
	}
	var verdict interface{ Verdict() bool }
	_, err := ParseResponse([]byte(strings.Replace(whole, "Success", "Failed", 1)), V1, "u")
	if !errors.As(err, &verdict) || !verdict.Verdict() {
		t.Errorf("a failure that the converter reports is no verdict: %v", err)
	}
}

func TestChoose(t *testing.T) {
	if v, err := Choose([]string{"v7", "v1beta1", "v1"}); err != nil || v != V1beta1 {
		t.Errorf("got %s, %v", v, err)
	}
	if _, err := Choose([]string{"v7"}); err == nil || err.Error() != "no supported conversion review versions" {
		t.Errorf("got %v", err)
	}
}

// FuzzParseResponse: what is accepted, encoding/json reads the same way.
func FuzzParseResponse(f *testing.F) {
	f.Add([]byte(documented))
	f.Add([]byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"u","result":{"status":"Success"},"convertedObjects":[{"a":1}, 2,"x"]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		objects, err := ParseResponse(body, V1, "u")
		if err != nil || !utf8.Valid(body) {
			return
		}
		var r struct {
			Response struct {
				ConvertedObjects []json.RawMessage `json:"convertedObjects"`
			} `json:"response"`
		}
		if err := json.Unmarshal(body, &r); err != nil {
			t.Fatalf("accepted %q: %v", body, err)
		}
		for _, o := range objects {
			if !json.Valid(o) {
				t.Fatalf("object %q of %q", o, body)
			}
		}
	})
}

func TestWhatAConverterSaysIsBounded(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	reply := func(apiVersion, kind, uid, status, message string) string {
		return `{"apiVersion":"` + apiVersion + `","kind":"` + kind + `","response":{"uid":"` + uid + `","result":{"status":"` + status + `","message":"` + message + `"}}}`
	}
	for name, body := range map[string]string{
		"message":    reply("apiextensions.k8s.io/v1", "ConversionReview", "u", "Failed", long),
		"status":     reply("apiextensions.k8s.io/v1", "ConversionReview", "u", long, ""),
		"uid":        reply("apiextensions.k8s.io/v1", "ConversionReview", long, "Success", ""),
		"kind":       reply("apiextensions.k8s.io/v1", long, "u", "Success", ""),
		"apiVersion": reply(long, "ConversionReview", "u", "Success", ""),
	} {
		_, err := ParseResponse([]byte(body), V1, "u")
		if err == nil || len(err.Error()) < MaxMessage || len(err.Error()) > MaxMessage+200 || !utf8.ValidString(err.Error()) {
			t.Errorf("%s: %d bytes", name, len(err.Error()))
		}
	}
}

// A log is read by others than those who may read the objects.
func TestLogsQuoteNothingOfAReply_CRD16(t *testing.T) {
	_, err := ParseResponse([]byte(`{"secret":tru}`), V1, "u")
	var unread *SyntaxError
	if !errors.As(err, &unread) || strings.Contains(unread.LogText(), "secret") || !strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}
