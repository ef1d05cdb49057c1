package api

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestListOptions(t *testing.T) {
	o, err := optionsOf("limit=5&continue=abc&labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&timeoutSeconds=7&unknown=1", false)
	if err != nil {
		t.Fatal(err)
	}
	if o.Limit != 5 || o.Continue != "abc" || o.LabelSelector.String() != "a=b" || o.FieldSelector.String() != "metadata.name=x" || *o.TimeoutSeconds != 7 || o.Watch {
		t.Errorf("%+v", o)
	}
	if o, err = optionsOf("", true); err != nil || !o.Watch {
		t.Errorf("%+v %v", o, err)
	}
	if o, err = optionsOf("limit=-3", false); err != nil || o.Limit != 0 {
		t.Errorf("a negative limit: %+v %v", o, err)
	}
}

func TestListOptions_Refused_WATCH10(t *testing.T) {
	for query, c := range map[string]struct {
		watch bool
		is    func(error) bool
	}{
		"limit=abc":              {false, apierrors.IsBadRequest},
		"labelSelector=a==b==c":  {false, apierrors.IsBadRequest},
		"fieldSelector=a":        {false, apierrors.IsBadRequest},
		"limit=%zz":              {false, apierrors.IsBadRequest},
		"resourceVersionMatch=X": {false, apierrors.IsInvalid},
		"resourceVersionMatch=Exact&resourceVersion=":              {false, apierrors.IsInvalid},
		"continue=x&resourceVersion=5&limit=1":                     {false, func(err error) bool { return err == nil }},
		"sendInitialEvents=true":                                   {true, apierrors.IsInvalid},
		"sendInitialEvents=true&resourceVersionMatch=NotOlderThan": {false, apierrors.IsInvalid},
		"resourceVersionMatch=NotOlderThan&resourceVersion=1":      {true, apierrors.IsInvalid},
	} {
		if _, err := optionsOf(query, c.watch); !c.is(err) {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestWriteOptions(t *testing.T) {
	var w warnings
	o, err := writeOptions(url.Values{"dryRun": {"All"}, "fieldValidation": {"Strict"}, "fieldManager": {"me"}}, "CreateOptions", false, &w)
	if err != nil || !o.DryRun || o.FieldValidation != "Strict" {
		t.Errorf("%+v %v", o, err)
	}
	for name, v := range map[string]url.Values{
		"dryRun":          {"dryRun": {"Some"}},
		"an empty dryRun": {"dryRun": {""}},
		"one of two":      {"dryRun": {"All", "Some"}},
		"one is empty":    {"dryRun": {"All", ""}},
		"fieldValidation": {"fieldValidation": {"strict"}},
		"fieldManager":    {"fieldManager": {strings.Repeat("x", 200)}},
	} {
		if _, err := writeOptions(v, "CreateOptions", false, &w); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "CreateOptions.meta.k8s.io") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBareDryRun_DRY03(t *testing.T) {
	for query, want := range map[string][]string{
		"dryRun": nil, "dryRun&pretty=true": nil, "dryRun=": {""}, "dryRun&dryRun=": {""}, "dryRun=&dryRun=All": {"", "All"}, "dryRun&dryRun=All": {"All"}, "dry%52un": nil, "dry%52un=": {""}, "xdryRun=&dryRun=All": {"All"},
	} {
		v, err := parseParams(query).all()
		if err != nil || !reflect.DeepEqual(v["dryRun"], want) {
			t.Errorf("%q: %q %v", query, v["dryRun"], err)
		}
	}
}

func TestDeleteOptions_DEL(t *testing.T) {
	uid := `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Orphan","dryRun":["All"],"preconditions":{"resourceVersion":"5"}}`
	for name, c := range map[string]struct {
		contentType, body, query string
		dry                      bool
		is                       func(error) bool
	}{
		"none":              {},
		"query":             {query: "dryRun=All&propagationPolicy=Background", dry: true},
		"body":              {body: uid, dry: true},
		"YAML body":         {contentType: mediaYAML, body: "dryRun: [All]\n", dry: true},
		"body over query":   {body: `{}`, query: "dryRun=All"},
		"pairs in text":     {body: `{"dryRun":["All"],"preconditions":{"uid":"\ud83d\ude00"}}`, dry: true},
		"tabs":              {body: "{\n\t\"dryRun\":\t[\n\t\t\"All\"\n\t]\n}", dry: true},
		"letter case":       {body: `{"DryRun":["All"],"dryrun":["All"]}`},
		"other kind":        {body: `{"kind":"Pod"}`, is: apierrors.IsBadRequest},
		"not JSON":          {body: `{`, is: apierrors.IsBadRequest},
		"wrong type":        {body: `{"gracePeriodSeconds":"x"}`, is: apierrors.IsBadRequest},
		"wrong media":       {contentType: "text/plain", body: `{}`, is: apierrors.IsUnsupportedMediaType},
		"false protobuf":    {contentType: mediaProtobuf, body: `{}`, is: apierrors.IsBadRequest},
		"damaged protobuf":  {contentType: mediaProtobuf, body: "k8s\x00\xff\xff", is: apierrors.IsBadRequest},
		"damaged message":   {contentType: mediaProtobuf, body: "k8s\x00\x12\x02\xff\xff", is: apierrors.IsBadRequest},
		"revision":          {query: "resourceVersion=5&uid=x&limit=1"},
		"dryRun":            {query: "dryRun=", dry: true}, // which is then refused
		"grace not integer": {query: "gracePeriodSeconds=x", is: apierrors.IsBadRequest},
	} {
		v, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		_, o, err := deleteOptions(&Request{ContentType: c.contentType, Body: []byte(c.body)}, v)
		if c.is == nil && (err != nil || o.DryRun != c.dry) || c.is != nil && !c.is(err) {
			t.Errorf("%s: %+v %v", name, o, err)
		}
	}
	o, _, err := deleteOptions(&Request{Body: []byte(uid)}, nil)
	policy, rv := metav1.DeletePropagationOrphan, "5"
	want := &metav1.DeleteOptions{
		TypeMeta: metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"}, PropagationPolicy: &policy, DryRun: []string{"All"},
		Preconditions: &metav1.Preconditions{ResourceVersion: &rv},
	}
	if err != nil || !reflect.DeepEqual(o, want) {
		t.Errorf("%+v %v", o, err)
	}
}

func TestLifetime(t *testing.T) {
	h := New(Config{MinWatchTimeout: time.Minute}, nil)
	seconds := func(n int64) *internalversion.ListOptions { return &internalversion.ListOptions{TimeoutSeconds: &n} }
	for n, want := range map[int64]time.Duration{1: time.Second, 600: 10 * time.Minute, 1 << 62: maxLifetime} {
		if got := h.lifetime(seconds(n)); got != want {
			t.Errorf("%d seconds: %s", n, got)
		}
	}
	for _, o := range []*internalversion.ListOptions{{}, seconds(0), seconds(-5)} {
		for range 100 {
			if got := h.lifetime(o); got < time.Minute || got > 2*time.Minute {
				t.Errorf("without a time: %s", got)
			}
		}
	}
}

// The answers were tried on kube-apiserver 1.36.3.
func TestTimeout(t *testing.T) {
	const most = time.Minute
	for query, want := range map[string]time.Duration{
		"": most, "timeout=": most, "timeout=5s": 5 * time.Second, "timeout=1m": most, "timeout=61s": most, "timeout=100000h": most,
		"timeout=0": most, "timeout=0s": most, "timeout=-1s": most, "timeout=1ms": time.Millisecond, "timeoutSeconds=x": most, "timeout=5s&x=%zz": 5 * time.Second,
	} {
		if got, err := parseParams(query).timeout(most); err != nil || got != want {
			t.Errorf("%q: %v %v, want %v", query, got, err, want)
		}
	}
	for query, want := range map[string]string{
		"timeout=abc":           `invalid timeout specified in the request URL - time: invalid duration "abc"`,
		"timeout=1":             `invalid timeout specified in the request URL - time: missing unit in duration "1"`,
		"timeout=x&timeout=5s":  `invalid timeout specified in the request URL - time: invalid duration "x"`,
		"timeout=999999999999h": `invalid timeout specified in the request URL - time: invalid duration "999999999999h"`,
	} {
		if _, err := parseParams(query).timeout(most); !apierrors.IsBadRequest(err) || err.Error() != want {
			t.Errorf("%q: %v", query, err)
		}
	}
}

// What a client says about dependents and grace reaches the deletion, however
// it says so.
func TestDeleteOptions_CarryPropagationAndGrace_DEL(t *testing.T) {
	grace, orphan, policy := int64(5), true, metav1.DeletePropagationForeground
	raw, err := (&metav1.DeleteOptions{GracePeriodSeconds: &grace, PropagationPolicy: &policy}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	unknown, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, Raw: raw}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		r      Request
		query  string
		orphan *bool
		policy *metav1.DeletionPropagation
	}{
		"query":          {query: "gracePeriodSeconds=5&propagationPolicy=Foreground", policy: &policy},
		"query, orphan":  {query: "gracePeriodSeconds=5&orphanDependents=true", orphan: &orphan},
		"JSON":           {r: Request{Body: []byte(`{"gracePeriodSeconds":5,"propagationPolicy":"Foreground"}`)}, policy: &policy},
		"YAML":           {r: Request{ContentType: mediaYAML, Body: []byte("gracePeriodSeconds: 5\norphanDependents: true\n")}, orphan: &orphan},
		"protobuf":       {r: Request{ContentType: mediaProtobuf, Body: append([]byte("k8s\x00"), unknown...)}, policy: &policy},
		"body, no query": {r: Request{Body: []byte(`{"gracePeriodSeconds":5}`)}, query: "propagationPolicy=Orphan"},
	} {
		v, err := parseParams(c.query).all()
		if err != nil {
			t.Fatal(err)
		}
		o, _, err := deleteOptions(&c.r, v)
		//lint:ignore SA1019 clients still send it
		if err != nil || o.GracePeriodSeconds == nil || *o.GracePeriodSeconds != 5 || !reflect.DeepEqual(o.OrphanDependents, c.orphan) || !reflect.DeepEqual(o.PropagationPolicy, c.policy) {
			t.Errorf("%s: %+v %v", name, o, err)
		}
	}
}

// optionsOf are the list options of a raw query.
func optionsOf(raw string, watch bool) (*internalversion.ListOptions, error) {
	v, err := parseParams(raw).all()
	if err != nil {
		return nil, err
	}
	return listOptions(v, watch, true)
}

func TestForceIsForApplies(t *testing.T) {
	var w warnings
	for _, value := range []string{"true", "false", "maybe"} {
		_, err := writeOptions(url.Values{"force": {value}}, "PatchOptions", false, &w)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch`) {
			t.Errorf("%s: %v", value, err)
		}
		o, err := writeOptions(url.Values{"force": {value}, "fieldManager": {"m"}}, "PatchOptions", true, &w)
		if err != nil || o.Caller.Force != (value != "false") {
			t.Errorf("%s of an apply: %v, %v", value, o.Caller.Force, err)
		}
		if o, err := writeOptions(url.Values{"force": {value}}, "UpdateOptions", false, &w); err != nil || o.Caller.Force {
			t.Errorf("%s of an update: %v", value, err)
		}
	}
}

func TestAppliesNameTheirManager_SSA02(t *testing.T) {
	var w warnings
	for _, v := range []url.Values{nil, {"force": {"true"}}, {"fieldManager": {""}}} {
		_, err := writeOptions(v, "PatchOptions", true, &w)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`) {
			t.Errorf("%v: %v", v, err)
		}
		if _, err := writeOptions(url.Values{}, "PatchOptions", false, &w); err != nil {
			t.Errorf("another patch: %v", err)
		}
	}
}
