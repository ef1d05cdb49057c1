package pod

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/gateway/authn"
	"github.com/wasmgate/wasmgate/gateway/authz"
)

// claimWrite is a write of the status of a claim; it notes the mistakes that are found.
type claimWrite struct {
	*admissiontest.Attributes
	mistakes []string
	unread   error
}

func (w *claimWrite) AddErrors(all ...*field.Error) {
	for _, e := range all {
		w.mistakes = append(w.mistakes, e.Field+": "+e.Detail)
	}
}

func (w *claimWrite) GetOldObject(ctx context.Context) (*unstructured.Unstructured, error) {
	if w.unread != nil {
		return nil, w.unread
	}
	return w.Attributes.GetOldObject(ctx)
}

// rights are what somebody may do, each as "verb resource/subresource namespace/name"; of
// what is asked is taken note.
type rights struct {
	may, asked []string
	reason     string
	err        error
}

func (r *rights) Authorize(_ context.Context, a authz.Attributes) (bool, string, error) {
	what := strings.Join([]string{a.Verb, a.Resource + "." + a.Group + "/" + a.Subresource, a.Namespace + "/" + a.Name}, " ")
	r.asked = append(r.asked, what)
	return slices.Contains(r.may, what), r.reason, r.err
}

// written is a write of a claim from one status to another, by the account of a pod on node m.
func written(t *testing.T, before, now string) *claimWrite {
	tree := func(status string) map[string]any {
		return admissiontest.Tree(t, `{"metadata":{"name":"c","namespace":"ns"},"status":`+status+`}`)
	}
	return &claimWrite{Attributes: &admissiontest.Attributes{
		Objects:   &admissiontest.Objects{Before: tree(before), After: tree(now)},
		Operation: admission.Update, Resource: schema.GroupVersionResource{Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaims"},
		Subresource: "status", Namespace: "ns", Name: "c", Verb: "update",
		User: &authn.User{Name: "system:serviceaccount:a:b", Extra: map[string][]string{authn.NodeNameKey: {"m"}}},
	}}
}

const (
	binds   = "update resourceclaims.resource.k8s.io/binding /"
	anyNode = "arbitrary-node:update resourceclaims.resource.k8s.io/driver ns/"
	ownNode = "associated-node:update resourceclaims.resource.k8s.io/driver ns/"
	on      = `"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["`
	onM     = `{"allocation":{` + on + `m"]}]}]}}`
	onN     = `{"allocation":{` + on + `n"]}]}]}}`
	says    = `,"devices":[{"driver":"d","pool":"p","device":"x"},{"driver":"e","pool":"p","device":"x"}]}`
)

// Who allocates and who reports on devices needs the right for that, and who runs on the
// node of the devices one of two.
func TestWhoMayWriteTheStatusOfAClaim(t *testing.T) {
	const not = `resourceclaims.resource.k8s.io "NAME" is forbidden: User "system:serviceaccount:a:b" cannot VERB resource "resourceclaims/`
	forbidden := func(name, verb, sub, where string) string {
		text := strings.NewReplacer("NAME", name, "VERB", verb).Replace(not) + sub + `" in API group "resource.k8s.io" ` + where
		return strings.Replace(text, `"" is`, "is", 1)
	}
	bind := `status.allocation: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="update" permission: ` + forbidden("", "update", "binding", "at the cluster scope")
	report := func(verbs, verb, driver string) string {
		return `status.devices: changing status.devices requires resource="resourceclaims/driver", verb="[` + verbs + `]" permission: ` + forbidden(driver, verb, "driver", `in the namespace "ns"`)
	}
	const both, one = "associated-node:update arbitrary-node:update", "arbitrary-node:update"
	for name, c := range map[string]struct {
		before, now      string
		may, asked, want []string
	}{
		"nothing":                    {onM + says, onM + says, nil, nil, nil},
		"an allocation":              {`{}`, onM + `}`, []string{binds}, []string{binds}, nil},
		"an allocation, refused":     {`{}`, onM + `}`, nil, []string{binds}, []string{bind}},
		"a consumer":                 {onM + `}`, onM + `,"reservedFor":[{"uid":"u"}]}`, nil, []string{binds}, []string{bind}},
		"no consumers in two ways":   {onM + `}`, onM + `,"reservedFor":[]}`, nil, nil, nil},
		"reports on the own node":    {onM + `}`, onM + says, []string{ownNode + "d", ownNode + "e"}, []string{ownNode + "d", ownNode + "e"}, nil},
		"reports on any":             {onM + `}`, onM + says, []string{anyNode + "d", anyNode + "e"}, []string{ownNode + "d", anyNode + "d", ownNode + "e", anyNode + "e"}, nil},
		"reports on another":         {onN + `}`, onN + says, []string{anyNode + "d", ownNode + "e"}, []string{anyNode + "d", anyNode + "e"}, []string{report(one, "arbitrary-node:update", "e")}},
		"reports of one driver":      {onM + `}`, onM + says, []string{ownNode + "d"}, []string{ownNode + "d", ownNode + "e", anyNode + "e"}, []string{report(both, "associated-node:update", "e")}},
		"reports that go":            {onM + says, onM + `}`, nil, []string{ownNode + "d", anyNode + "d", ownNode + "e", anyNode + "e"}, []string{report(both, "associated-node:update", "d"), report(both, "associated-node:update", "e")}},
		"reports and the allocation": {onM + says, `{}`, []string{binds}, []string{binds}, nil},
	} {
		w, r := written(t, c.before, c.now), &rights{may: c.may}
		if err := (DeviceStatus{r}).Mutate(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.asked, c.asked) || !slices.Equal(w.mistakes, c.want) {
			t.Errorf("%s: asked %q, want %q; said\n%q, want\n%q", name, r.asked, c.asked, w.mistakes, c.want)
		}
	}
}

// Other writes are nobody's business here, and what cannot be read is told.
func TestWritesThatDeviceStatusDoesNotJudge(t *testing.T) {
	for name, change := range map[string]func(a *admissiontest.Attributes){
		"of another kind": func(a *admissiontest.Attributes) { a.Resource.Resource = "resourceslices" },
		"of the whole":    func(a *admissiontest.Attributes) { a.Subresource = "" },
		"of a new one":    func(a *admissiontest.Attributes) { a.Operation = admission.Create },
	} {
		w, r := written(t, `{}`, onM+says), &rights{}
		change(w.Attributes)
		w.unread = errors.New("it is not to be read")
		if err := (DeviceStatus{r}).Mutate(t.Context(), w); err != nil || r.asked != nil || w.mistakes != nil {
			t.Errorf("a write %s: %v, asked %q, said %q", name, err, r.asked, w.mistakes)
		}
	}
	w := written(t, `{}`, onM+says)
	w.unread = errors.New("no such thing")
	if err := (DeviceStatus{&rights{}}).Mutate(t.Context(), w); err == nil || err.Error() != "no such thing" || w.mistakes != nil {
		t.Errorf("unread: %v, said %q", err, w.mistakes)
	}
}

// A refusal tells the reason, and what kept the question from being answered.
func TestWhyAClaimMayNotBeWritten(t *testing.T) {
	for want, r := range map[string]*rights{
		`at the cluster scope`:                {},
		`at the cluster scope: because`:       {reason: "because"},
		`at the cluster scope: down`:          {err: errors.New("down")},
		`at the cluster scope: down: because`: {reason: "because", err: errors.New("down")},
	} {
		w := written(t, `{}`, `{"allocation":{}}`)
		if err := (DeviceStatus{r}).Mutate(t.Context(), w); err != nil || len(w.mistakes) != 1 || !strings.HasSuffix(w.mistakes[0], want) {
			t.Errorf("%+v: %v, %q", r, err, w.mistakes)
		}
	}
	if allowed := (&rights{may: []string{binds}, err: errors.New("down")}); (DeviceStatus{allowed}).refused(t.Context(), authz.Attributes{Verb: "update", Group: "resource.k8s.io", Resource: "resourceclaims", Subresource: "binding"}) != nil {
		t.Error("what is allowed is refused")
	}
}
