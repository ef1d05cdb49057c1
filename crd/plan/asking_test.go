package plan

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The rules of one object have some time together, and it is said once that they were
// not all asked; nothing passes that was not judged.
func TestRulesOfOneObjectEnd(t *testing.T) {
	p, err := NewLibrary(nil).Plan(reflect.TypeFor[*appsv1.Deployment](), Additions{
		"spec.template.spec.containers[].args[]":    {Rules: []Rule{{Rule: "up[0].args.exists_one(a, a == self)", Message: "is there twice"}}},
		"spec.template.spec.containers[].command[]": {Rules: []Rule{{Rule: "self != ''", Message: "is empty"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var args []any
	for i := range 400 {
		args = append(args, fmt.Sprint(i))
	}
	obj := map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"args": args, "command": []any{"a", "b"}}}}}}}
	defer func(was time.Duration) { patience = was }(patience)
	patience = time.Hour
	if errs := p.Validate(t.Context(), obj, nil); len(errs) > 0 {
		t.Errorf("in time: %v", errs)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if errs := p.Validate(gone, obj, nil); len(errs) != 1 || !strings.Contains(errs[0].Detail, "and no further ones were asked") {
		t.Errorf("of who has gone: %v", errs)
	}
	for _, patience = range []time.Duration{0, time.Millisecond} {
		errs := p.Validate(t.Context(), obj, nil)
		if len(errs) != 1 || !strings.Contains(errs[0].Detail, "and no further ones were asked") {
			t.Errorf("%v: %v", patience, errs)
		}
		if n := Unasked(append(errs, field.Required(nil, ""))); n != 1 {
			t.Errorf("%v: %d of them are of rules that were not asked", patience, n)
		}
	}
}

// Items of several lists are compared, too, where a rule says so.
func TestAlikeItemsAcrossLists(t *testing.T) {
	p, err := NewLibrary(nil).Plan(reflect.TypeFor[*appsv1.Deployment](), Additions{
		"spec.template.spec.containers[].ports[]": {Rules: []Rule{{Alike: []string{"hostPort"}, Across: "1.containers[].ports[]", Rule: "self.?hostPort.orValue(0) == 0", Reason: "Duplicate"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for containers, want := range map[string]string{
		`[{ports: [{hostPort: 5}]}, {ports: [{hostPort: 6}]}]`:                    "",
		`[{ports: [{}]}, {}, {ports: [{hostPort: 0}, {}]}]`:                       "",
		`[{ports: [{hostPort: 5}]}, {}, {ports: [{hostPort: 6}, {hostPort: 5}]}]`: `spec.template.spec.containers[2].ports[1]: Duplicate value: {"hostPort":5}`,
		`[{ports: [{hostPort: 5}, {hostPort: 5, name: a}]}]`:                      `spec.template.spec.containers[0].ports[1]: Duplicate value: {"hostPort":5,"name":"a"}`,
	} {
		said := ""
		for _, e := range p.Validate(t.Context(), parsed(t, `{spec: {template: {spec: {containers: `+containers+`}}}}`), nil) {
			said += e.Error()
		}
		if said != want {
			t.Errorf("%s: %s, want %s", containers, said, want)
		}
	}
	if _, err := NewLibrary(nil).Plan(reflect.TypeFor[*appsv1.Deployment](), Additions{"spec": {Rules: []Rule{{Across: "x"}}}}); err == nil {
		t.Error("a place that is none is taken")
	}
}

// Items are compared by fields in a time that is linear in how many there are.
func TestAlikeItems(t *testing.T) {
	p, err := NewLibrary(nil).Plan(reflect.TypeFor[*appsv1.Deployment](), Additions{
		"spec.template.spec.containers[].ports[]": {Rules: []Rule{
			{Alike: []string{"containerPort", "protocol"}, Reason: "Duplicate"},
			{Alike: []string{"hostPort"}, Rule: "self.?hostPort.orValue(0) == 0", FieldPath: "hostPort", Reason: "Duplicate"},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for ports, want := range map[string]string{
		`[{containerPort: 1}, {containerPort: 2}, {containerPort: 1, protocol: UDP}]`: "",
		`[{containerPort: 1, hostPort: 5}, {containerPort: 2, hostPort: 6}]`:          "",
		`[{containerPort: 1, hostPort: 0}, {containerPort: 2, hostPort: 0}]`:          "",
		`[{containerPort: 1, hostPort: 5}, {containerPort: 2, hostPort: 5}]`:          "[1].hostPort: Duplicate value: 5",
		`[{containerPort: 1, name: a}, {containerPort: 2}, {containerPort: 1}]`:       `[2]: Duplicate value: {"containerPort":1}`,
		`[{containerPort: 1, protocol: "2"}, {containerPort: 12}]`:                    "",
		`[{}, {}]`: `[1]: Duplicate value: {}`,
	} {
		var said []string
		for _, e := range p.Validate(t.Context(), parsed(t, `{spec: {template: {spec: {containers: [{ports: `+ports+`}]}}}}`), nil) {
			said = append(said, strings.TrimPrefix(e.Error(), "spec.template.spec.containers[0].ports"))
		}
		if got := strings.Join(said, " "); got != want {
			t.Errorf("%s: %s, want %s", ports, got, want)
		}
	}
	var many []any
	for i := range 50000 {
		many = append(many, map[string]any{"containerPort": int64(i)})
	}
	obj := map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"ports": many}}}}}}
	if errs := p.Validate(t.Context(), obj, nil); len(errs) > 0 {
		t.Errorf("of many: %v", errs)
	}
}
