package escalation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// pick are some of a list, and sometimes none.
func pick(r *rand.Rand, from ...string) (out []string) {
	for range r.IntN(4) {
		out = append(out, from[r.IntN(len(from))])
	}
	return out
}

func anyRules(r *rand.Rand, most int) (all []rbacv1.PolicyRule) {
	for range r.IntN(most) {
		one := rbacv1.PolicyRule{Verbs: pick(r, "get", "list", "watch", "*"), APIGroups: pick(r, "", "apps", "batch", "*"), Resources: pick(r, "pods", "pods/scale", "pods/a/b", "*/scale", "*/a/b", "nodes", "*")}
		if r.IntN(2) == 0 {
			one.ResourceNames = pick(r, "a", "b", "*", "")
		}
		if r.IntN(3) == 0 {
			one.NonResourceURLs = pick(r, "/", "/api", "/api/*", "/apis*", "/api/v1", "/apis/apps", "*", "**", "")
		}
		all = append(all, one)
	}
	return all
}

// What is lacking is what Kubernetes' own comparison finds, in its order.
func TestLackingIsWhatCoversFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	whole := 0
	for range 20_000 {
		held, rules := anyRules(r, 8), anyRules(r, 3)
		covers, want := validation.Covers(held, rules)
		got, err := lacking(t.Context(), held, rules)
		if err != nil || len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) || covers != (len(got) == 0) {
			t.Fatalf("held %+v\nasked %+v\nlacking %+v, %v\nwant %+v", held, rules, got, err, want)
		}
		if covers && len(rules) > 0 {
			whole++
		}
	}
	if whole < 1000 {
		t.Errorf("only %d are held", whole)
	}
}

func numbered(word string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(word, i)
	}
	return out
}

// As many values as a rule can have are compared with as many, whichever list they are in.
func TestLongListsAreCompared(t *testing.T) {
	const n = 25_000
	one := []string{"x"}
	for what, r := range map[string]rbacv1.PolicyRule{
		"verbs":     {Verbs: numbered("v", n), APIGroups: one, Resources: one},
		"groups":    {Verbs: one, APIGroups: numbered("g", n), Resources: one},
		"resources": {Verbs: one, APIGroups: one, Resources: numbered("r", n)},
		"names":     {Verbs: one, APIGroups: one, Resources: one, ResourceNames: numbered("n", n)},
		"paths":     {Verbs: one, NonResourceURLs: numbered("/p", n)},
	} {
		if lacks, err := lacking(t.Context(), []rbacv1.PolicyRule{r}, []rbacv1.PolicyRule{r}); len(lacks) > 0 || err != nil {
			t.Errorf("%s: %d are lacking, %v", what, len(lacks), err)
		}
	}
}

// What would take too long is refused, and nothing goes on for who does not wait.
func TestComparingHasAnEnd(t *testing.T) {
	one := []string{"x"}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for what, c := range map[string]struct{ held, asked rbacv1.PolicyRule }{
		"names":    {rbacv1.PolicyRule{Verbs: one, APIGroups: one, Resources: one, ResourceNames: []string{"n0", "n1"}}, rbacv1.PolicyRule{Verbs: one, APIGroups: one, Resources: one, ResourceNames: numbered("n", 25_000)}},
		"verbs":    {rbacv1.PolicyRule{Verbs: []string{"v0", "v1"}, APIGroups: one, Resources: one}, rbacv1.PolicyRule{Verbs: numbered("v", 25_000), APIGroups: one, Resources: one}},
		"prefixes": {rbacv1.PolicyRule{Verbs: one, NonResourceURLs: []string{"/a*", "/b*"}}, rbacv1.PolicyRule{Verbs: one, NonResourceURLs: numbered("/p", 25_000)}},
	} {
		held, asked := make([]rbacv1.PolicyRule, 1000), []rbacv1.PolicyRule{c.asked}
		for i := range held {
			held[i] = c.held
		}
		if _, err := lacking(t.Context(), held, asked); !errors.Is(err, errManySteps) {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := lacking(ended, held, asked); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, when the request has ended: %v", what, err)
		}
	}
	subresources := numbered("r", 25_000)
	for i := range subresources {
		subresources[i] += "/s"
	}
	repeated := []rbacv1.PolicyRule{{Verbs: one, APIGroups: one, Resources: slices.Repeat([]string{"*/s"}, 25_000)}}
	if _, err := lacking(t.Context(), repeated, []rbacv1.PolicyRule{{Verbs: one, APIGroups: one, Resources: subresources}}); !errors.Is(err, errManySteps) {
		t.Errorf("subresources: %v", err)
	}
	held := []rbacv1.PolicyRule{{Verbs: slices.Repeat(one, mostSteps/4)}}
	if _, err := lacking(t.Context(), append(held, held[0], held[0], held[0], held[0]), held[:0]); !errors.Is(err, errManySteps) {
		t.Errorf("long lists that are held: %v", err)
	}
}
