package query

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
)

// The values were tried on kube-apiserver 1.36.3.
func TestIsWatch(t *testing.T) {
	for query, want := range map[string]bool{
		"": false, "watch": true, "watch=": true, "watch=1": true, "watch=true": true, "watch=True": true, "watch=foo": true,
		"watch=0": false, "watch=false": false, "watch=FALSE": false, "a=b&watch=true": true, "labelSelector=watch": false,
		"allowWatchBookmarks=true": false, "watch=true&x=%zz": false, "%77atch=1": true, "watch=0&watch=1": false, "x=1&%77atch=watch": true,
	} {
		if got := Parse(query).Watch(); got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}

func TestSelectedName_RBAC(t *testing.T) {
	for raw, want := range map[string]string{
		"": "", "fieldSelector=": "", "fieldSelector=metadata.name=a": "a", "fieldSelector=metadata.name%3D%3Da,spec.nodeName=n": "a",
		"fieldSelector=metadata.name!=a": "", "fieldSelector=metadata.name=a/b": "", "fieldSelector=spec.nodeName=n": "", "fieldSelector=a": "",
	} {
		if got := Parse(raw).SelectedName(); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}

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

// A watch that only the path of which tells that it is one is judged like a list.
func TestListOptions_Refused_WATCH10(t *testing.T) {
	taken := func(err error) bool { return err == nil }
	for query, c := range map[string]struct {
		watch bool
		is    func(error) bool
	}{
		"limit=abc":              {false, apierrors.IsBadRequest},
		"labelSelector=a==b==c":  {false, apierrors.IsBadRequest},
		"fieldSelector=a":        {false, apierrors.IsBadRequest},
		"limit=%zz":              {false, apierrors.IsBadRequest},
		"resourceVersionMatch=X": {false, apierrors.IsInvalid},
		"resourceVersionMatch=Exact&resourceVersion=":                       {false, apierrors.IsInvalid},
		"continue=x&resourceVersion=5&limit=1":                              {false, taken},
		"watch=1&sendInitialEvents=true":                                    {true, apierrors.IsInvalid},
		"sendInitialEvents=true&resourceVersionMatch=NotOlderThan":          {false, apierrors.IsInvalid},
		"watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=1":       {true, apierrors.IsInvalid},
		"watch=1&continue=x":                                                {true, apierrors.IsInvalid},
		"watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan":  {true, taken},
		"pretty=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan": {true, apierrors.IsInvalid}, // below /watch/
		"continue=y": {true, taken},
		"limit=2&resourceVersion=1&resourceVersionMatch=Exact": {true, taken},
	} {
		if _, err := optionsOf(query, c.watch); !c.is(err) {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestWriteOptions(t *testing.T) {
	o, err := (Parameters{values: url.Values{"dryRun": {"All"}, "fieldValidation": {"Strict"}, "fieldManager": {"me"}}}).Write("CreateOptions", false)
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
		if _, err := (Parameters{values: v}).Write("CreateOptions", false); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "CreateOptions.meta.k8s.io") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Who asks for an object without what a server sets is told that nobody does that.
func TestExportIsNoMore(t *testing.T) {
	for asked, refused := range map[string]bool{
		"": false, "export=false": false, "export=0": false, "export=true": true, "export=": true, "export": true, "export=1": true,
	} {
		_, err := Parse(asked).Get()
		if apierrors.IsBadRequest(err) != refused || !refused && err != nil {
			t.Errorf("%q: %v", asked, err)
		}
	}
	if o, err := Parse("resourceVersion=7").Get(); err != nil || o.ResourceVersion != "7" {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestBareDryRun_DRY03(t *testing.T) {
	for query, want := range map[string][]string{
		"dryRun": nil, "dryRun&pretty=true": nil, "dryRun=": {""}, "dryRun&dryRun=": {""}, "dryRun=&dryRun=All": {"", "All"}, "dryRun&dryRun=All": {"All"}, "dry%52un": nil, "dry%52un=": {""}, "xdryRun=&dryRun=All": {"All"},
	} {
		v, err := Parse(query).Values()
		if err != nil || !reflect.DeepEqual(v["dryRun"], want) {
			t.Errorf("%q: %q %v", query, v["dryRun"], err)
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
		if got, err := Parse(query).Timeout(most); err != nil || got != want {
			t.Errorf("%q: %v %v, want %v", query, got, err, want)
		}
	}
	for query, want := range map[string]string{
		"timeout=abc":           `invalid timeout specified in the request URL - time: invalid duration "abc"`,
		"timeout=1":             `invalid timeout specified in the request URL - time: missing unit in duration "1"`,
		"timeout=x&timeout=5s":  `invalid timeout specified in the request URL - time: invalid duration "x"`,
		"timeout=999999999999h": `invalid timeout specified in the request URL - time: invalid duration "999999999999h"`,
	} {
		if _, err := Parse(query).Timeout(most); !apierrors.IsBadRequest(err) || err.Error() != want {
			t.Errorf("%q: %v", query, err)
		}
	}
}

// optionsOf are the list options of a raw query.
func optionsOf(raw string, watch bool) (*internalversion.ListOptions, error) {
	return Parse(raw).List(watch, true)
}

func TestForceIsForApplies(t *testing.T) {
	for _, value := range []string{"true", "false", "maybe"} {
		_, err := (Parameters{values: url.Values{"force": {value}}}).Write("PatchOptions", false)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch`) {
			t.Errorf("%s: %v", value, err)
		}
		o, err := (Parameters{values: url.Values{"force": {value}, "fieldManager": {"m"}}}).Write("PatchOptions", true)
		if err != nil || o.Caller.Force != (value != "false") {
			t.Errorf("%s of an apply: %v, %v", value, o.Caller.Force, err)
		}
		if o, err := (Parameters{values: url.Values{"force": {value}}}).Write("UpdateOptions", false); err != nil || o.Caller.Force {
			t.Errorf("%s of an update: %v", value, err)
		}
	}
}

func TestAppliesNameTheirManager_SSA02(t *testing.T) {
	for _, v := range []url.Values{nil, {"force": {"true"}}, {"fieldManager": {""}}} {
		_, err := (Parameters{values: v}).Write("PatchOptions", true)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch`) {
			t.Errorf("%v: %v", v, err)
		}
		if _, err := (Parameters{values: url.Values{}}).Write("PatchOptions", false); err != nil {
			t.Errorf("another patch: %v", err)
		}
	}
}

// What is peeked at before the options are read is what these say.
func TestPeeks(t *testing.T) {
	for raw, want := range map[string]struct {
		limit  int64
		begins bool
		node   string
	}{
		"": {0, true, ""}, "limit=5&resourceVersion=7": {5, false, ""}, "limit=-1&resourceVersion=0": {0, true, ""}, "limit=many&resourceVersion=1&sendInitialEvents=true": {0, true, ""},
		"resourceVersion=1&sendInitialEvents=yes": {0, true, ""}, "resourceVersion=1&sendInitialEvents=": {0, true, ""}, "sendInitialEvents=0": {0, false, ""}, "resourceVersion=0&sendInitialEvents=False": {0, false, ""},
		"resourceVersion=1&sendInitialEvents=false&fieldSelector=spec.nodeName%3Dn1,metadata.name%3Da": {0, false, "n1"}, "fieldSelector=spec.nodeName!%3Dn1": {0, true, ""}, "fieldSelector=%2C%3D": {0, true, ""},
	} {
		p := Parse(raw)
		if p.Limit() != want.limit || p.BeginsWithAll() != want.begins || p.Selected("spec.nodeName") != want.node {
			t.Errorf("%q: %d %v %q", raw, p.Limit(), p.BeginsWithAll(), p.Selected("spec.nodeName"))
		}
	}
}

// Of several selectors of a sort the first counts.
func TestSelectors(t *testing.T) {
	for raw, want := range map[string][2]string{
		"": {}, "fieldSelector=&labelSelector": {}, "fieldSelector=a%3Db&labelSelector=c&fieldSelector=x&labelSelector=y&%": {"a=b", "c"},
	} {
		if ofFields, ofLabels := Parse(raw).Selectors(); ofFields != want[0] || ofLabels != want[1] {
			t.Errorf("%q: %q and %q", raw, ofFields, ofLabels)
		}
	}
}
