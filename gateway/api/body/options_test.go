package body

import (
	"reflect"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/gateway/api/query"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

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
		"YAML body":         {contentType: encoding.TypeYAML, body: "dryRun: [All]\n", dry: true},
		"body over query":   {body: `{}`, query: "dryRun=All"},
		"pairs in text":     {body: `{"dryRun":["All"],"preconditions":{"uid":"\ud83d\ude00"}}`, dry: true},
		"tabs":              {body: "{\n\t\"dryRun\":\t[\n\t\t\"All\"\n\t]\n}", dry: true},
		"letter case":       {body: `{"DryRun":["All"],"dryrun":["All"]}`},
		"other kind":        {body: `{"kind":"Pod"}`, is: apierrors.IsBadRequest},
		"not JSON":          {body: `{`, is: apierrors.IsBadRequest},
		"wrong type":        {body: `{"gracePeriodSeconds":"x"}`, is: apierrors.IsBadRequest},
		"wrong media":       {contentType: "text/plain", body: `{}`, is: apierrors.IsUnsupportedMediaType},
		"false protobuf":    {contentType: encoding.TypeProtobuf, body: `{}`, is: apierrors.IsBadRequest},
		"damaged protobuf":  {contentType: encoding.TypeProtobuf, body: "k8s\x00\xff\xff", is: apierrors.IsBadRequest},
		"damaged message":   {contentType: encoding.TypeProtobuf, body: "k8s\x00\x12\x02\xff\xff", is: apierrors.IsBadRequest},
		"revision":          {query: "resourceVersion=5&uid=x&limit=1"},
		"dryRun":            {query: "dryRun=", dry: true}, // which is then refused
		"grace not integer": {query: "gracePeriodSeconds=x", is: apierrors.IsBadRequest},
	} {
		_, o, err := Body{ContentType: c.contentType, Data: []byte(c.body)}.DeleteOptions(query.Parse(c.query))
		if c.is == nil && (err != nil || o.DryRun != c.dry) || c.is != nil && !c.is(err) {
			t.Errorf("%s: %+v %v", name, o, err)
		}
	}
	o, _, err := Body{Data: []byte(uid)}.DeleteOptions(query.Parameters{})
	policy, rv := metav1.DeletePropagationOrphan, "5"
	want := &metav1.DeleteOptions{
		TypeMeta: metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"}, PropagationPolicy: &policy, DryRun: []string{"All"},
		Preconditions: &metav1.Preconditions{ResourceVersion: &rv},
	}
	if err != nil || !reflect.DeepEqual(o, want) {
		t.Errorf("%+v %v", o, err)
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
		r      Body
		query  string
		orphan *bool
		policy *metav1.DeletionPropagation
	}{
		"query":          {query: "gracePeriodSeconds=5&propagationPolicy=Foreground", policy: &policy},
		"query, orphan":  {query: "gracePeriodSeconds=5&orphanDependents=true", orphan: &orphan},
		"JSON":           {r: Body{Data: []byte(`{"gracePeriodSeconds":5,"propagationPolicy":"Foreground"}`)}, policy: &policy},
		"YAML":           {r: Body{ContentType: encoding.TypeYAML, Data: []byte("gracePeriodSeconds: 5\norphanDependents: true\n")}, orphan: &orphan},
		"protobuf":       {r: Body{ContentType: encoding.TypeProtobuf, Data: append([]byte("k8s\x00"), unknown...)}, policy: &policy},
		"body, no query": {r: Body{Data: []byte(`{"gracePeriodSeconds":5}`)}, query: "propagationPolicy=Orphan"},
	} {
		o, _, err := c.r.DeleteOptions(query.Parse(c.query))
		//lint:ignore SA1019 clients still send it
		if err != nil || o.GracePeriodSeconds == nil || *o.GracePeriodSeconds != 5 || !reflect.DeepEqual(o.OrphanDependents, c.orphan) || !reflect.DeepEqual(o.PropagationPolicy, c.policy) {
			t.Errorf("%s: %+v %v", name, o, err)
		}
	}
}
