package priority

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func named(name string, age int, groups ...string) *Object {
	o := &Object{Spec: Spec{Groups: groups}}
	o.Name, o.CreationTimestamp = name, metav1.NewTime(time.Unix(int64(1000-age), 0))
	return o
}

func TestTheOldestObjectOrdersAGroup_WP03(t *testing.T) {
	all := []*Object{named("young", 1, "a", "b"), named("old-b", 2, "b", "c"), named("old-a", 2, "b"), named("new", 0, "a", "c", "d")}
	want := map[string]string{"a": "young", "b": "old-a", "c": "old-b", "d": "new"}
	for range 2 {
		owners := Owners(all)
		if len(owners) != len(want) {
			t.Errorf("%d groups", len(owners))
		}
		for group, name := range want {
			if o := owners[group]; o == nil || o.Name != name {
				t.Errorf("%s is ordered by %+v, want %s", group, o, name)
			}
		}
		slices.Reverse(all)
	}
}

func TestAnOrderOfOtherVersionsStillOrders(t *testing.T) {
	for _, c := range []struct{ order, served, want string }{
		{"", "v2 v1", "v2 v1"},
		{"v1 v2", "v2 v1", "v1 v2"},
		{"v1 v2", "v3 v2 v1", "v1 v2 v3"},
		{"v1 v2 v3", "v3 v1", "v1 v3"},
		{"v1 v1 x", "v2 v1", "v1 v2"},
		{"v1", "", ""},
	} {
		served := strings.Fields(c.served)
		got := Apply(strings.Fields(c.order), served)
		if strings.Join(got, " ") != c.want || strings.Join(served, " ") != c.served {
			t.Errorf("%q of %q: %q, want %q; served is now %q", c.order, c.served, got, c.want, served)
		}
	}
}

func TestTheOrderOfAGroupIsInTheStatus(t *testing.T) {
	s := Status{Groups: []Group{{Group: "a"}, {Group: "b", Versions: []string{"v1"}}}}
	if s.Order("a") != nil || !slices.Equal(s.Order("b"), []string{"v1"}) || s.Order("c") != nil {
		t.Errorf("got %v, %v, %v", s.Order("a"), s.Order("b"), s.Order("c"))
	}
}

func TestARequestIsTheSameForTheSameVersions_WP03(t *testing.T) {
	r := Ask("example.com", []string{"v2", "v1"})
	data, err := r.Encode()
	want := fmt.Sprintf(`{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","request":{"uid":%q,"group":"example.com","versions":["v2","v1"]}}`, r.UID)
	if err != nil || string(data) != want || len(r.UID) != 36 {
		t.Errorf("got %s, %v", data, err)
	}
	if Ask("example.com", []string{"v2", "v1"}).UID != r.UID || Ask("example.com", []string{"v1", "v2"}).UID == r.UID || Ask("example.org", []string{"v2", "v1"}).UID == r.UID {
		t.Error("the uid does not follow from group and versions")
	}
}

func TestOnlyAPermutationIsAnAnswer_WP03(t *testing.T) {
	r := Ask("example.com", []string{"v2", "v1", "v1beta1"})
	reply := func(versions string) string {
		return fmt.Sprintf(`{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","response":{"uid":%q,"versions":%s}}`, r.UID, versions)
	}
	got, err := r.Accept([]byte(reply(`["v1","v1beta1","v2"]`)))
	if err != nil || !slices.Equal(got, []string{"v1", "v1beta1", "v2"}) {
		t.Errorf("got %q, %v", got, err)
	}
	for text, want := range map[string]string{
		reply(`["v1","v2"]`):                          `response.versions lacks "v1beta1"`,
		reply(`["v1","v2","v1beta1","v1"]`):           `response.versions[3]: "v1" is there twice`,
		reply(`["v1","v2","v3"]`):                     `response.versions[2] is "v3", which is not one of the versions asked for`,
		reply(`[]`):                                   `response.versions lacks "v2"`,
		reply(`null`):                                 `response.versions lacks "v2"`,
		reply(`"v1"`):                                 "the reply is not a VersionPriorityReview: ",
		reply(`["` + strings.Repeat("x", 200)):        "the reply is not a VersionPriorityReview: ",
		reply(`["` + strings.Repeat("x", 200) + `"]`): `response.versions[0] is "` + strings.Repeat("x", 100) + `...", which is`,
		"": "the reply is not a VersionPriorityReview: ",
		`{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview"}`:               "the reply has no response",
		`{"apiVersion":"wasmgate.dev/v2","kind":"VersionPriorityReview","response":{}}`: `the reply is a "VersionPriorityReview" of "wasmgate.dev/v2", not a`,
		`{"apiVersion":"wasmgate.dev/v1","kind":"ConversionReview","response":{}}`:      `the reply is a "ConversionReview" of "wasmgate.dev/v1", not a`,
		strings.Replace(reply(`["v1","v1beta1","v2"]`), r.UID, "other", 1):              `expected response.uid="` + r.UID + `", got "other"`,
	} {
		if got, err := r.Accept([]byte(text)); err == nil || got != nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.200s: %q, %v, want %s", text, got, err, want)
		}
	}
}

func TestRepliesAreBounded(t *testing.T) {
	r := Ask("example.com", []string{"v1"})
	good := fmt.Sprintf(`{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","response":{"uid":%q,"versions":["v1"]}}`, r.UID)
	for size, ok := range map[int]bool{MaxReplyBytes: true, MaxReplyBytes + 1: false} {
		_, err := r.Accept([]byte(good + strings.Repeat(" ", size-len(good))))
		if (err == nil) != ok || !ok && err.Error() != "the reply has 1048577 bytes, more than 1048576" {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func FuzzAccept(f *testing.F) {
	r := Ask("example.com", []string{"v2", "v1"})
	f.Add([]byte(`{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","response":{"uid":"` + r.UID + `","versions":["v1","v2"]}}`))
	f.Add([]byte(`{"response":{"versions":[null]}}`))
	f.Fuzz(func(t *testing.T, reply []byte) {
		got, err := r.Accept(reply)
		if err != nil {
			if got != nil || len(err.Error()) > 1000 {
				t.Errorf("refused with %q and %d bytes", got, len(err.Error()))
			}
			return
		}
		if slices.Sort(got); !slices.Equal(got, []string{"v1", "v2"}) || !json.Valid(reply) {
			t.Errorf("%q of %s", got, reply)
		}
	})
}
