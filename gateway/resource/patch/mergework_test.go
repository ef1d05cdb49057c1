package patch

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// texts are so many of what format makes of a number, in a list.
func texts(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(format, "#", fmt.Sprint(i*7919%n))
	}
	return "[" + strings.Join(all, ",") + "]"
}

func finalizers(list string) string { return `{"metadata":{"finalizers":` + list + `}}` }

func containers(list string) string { return `{"spec":{"containers":` + list + `}}` }

func env(n int, name string) string {
	return containers(`[{"name":"c","env":` + texts(n, `{"name":"`+name+`","value":"`+strings.Repeat("v", 100)+`"}`) + `}]`)
}

// twice are two containers of one name, each of many variables that the other has not.
func twice(names ...string) string {
	for i, name := range names {
		names[i] = `{"name":"c","env":` + texts(20_000, `{"name":"`+name+`"}`) + `}`
	}
	return "[" + strings.Join(names, ",") + "]"
}

// volumes are items of one name, each with the metadata of a claim.
func volumes(metadata ...string) string {
	for i, m := range metadata {
		metadata[i] = `{"name":"v","ephemeral":{"volumeClaimTemplate":{"metadata":` + m + `}}}`
	}
	return strings.Join(metadata, ",")
}

func volume(metadata string) string { return `{"spec":{"volumes":[` + volumes(metadata) + `]}}` }

// A strategic merge patch whose lists take the library hours is refused at once, and none
// that clients send.
func TestMergingOfListsIsBounded_UPD07(t *testing.T) {
	one := finalizers(`["a"]`)
	for name, c := range map[string]struct {
		old, patch string
		refused    bool
	}{
		"nothing there":           {`{"metadata":{}}`, finalizers(texts(100_000, `"f#"`)), false}, // is taken as it is
		"many":                    {one, finalizers(texts(100_000, `"f#"`)), true},
		"many there":              {finalizers(texts(100_000, `"f#"`)), one, true},
		"an empty list there":     {finalizers(`[]`), finalizers(texts(100_000, `"f#"`)), true},
		"some":                    {one, finalizers(texts(1000, `"f#"`)), false},
		"some and some":           {finalizers(texts(3000, `"a#"`)), finalizers(texts(3000, `"f#"`)), false},
		"long ones":               {finalizers(texts(9000, `"`+strings.Repeat("x", 300)+`#"`)), one, true},
		"an order":                {finalizers(texts(100_000, `"f#"`)), `{"metadata":{"$setElementOrder/finalizers":` + texts(100_000, `"f#"`) + `}}`, true},
		"an order of nothing":     {one, `{"metadata":{"$setElementOrder/finalizers":` + texts(100_000, `"f#"`) + `}}`, false},
		"deletions":               {finalizers(texts(100_000, `"f#"`)), `{"metadata":{"$deleteFromPrimitiveList/finalizers":` + texts(100_000, `"f#"`) + `}}`, false},
		"a list in its place":     {`{"spec":{"tolerations":` + texts(50_000, `{"key":"k#"}`) + `}}`, `{"spec":{"tolerations":` + texts(50_000, `{"key":"t#"}`) + `}}`, false},
		"objects":                 {env(1, "a#"), env(50_000, "e#"), true},
		"objects of two":          {env(2000, "e#"), env(2000, "e#"), false},
		"objects of all":          {env(20_000, "e#"), env(20_000, "e#"), true},
		"one of many objects":     {env(5000, "e#"), env(1, "e#"), false},
		"objects that go":         {env(20_000, "e#"), containers(`[{"name":"c","env":` + texts(20_000, `{"name":"e#","$patch":"delete"}`) + `}]`), true},
		"objects in their place":  {env(20_000, "e#"), containers(`[{"name":"c","$patch":"delete","env":` + texts(20_000, `{"name":"e#"}`) + `}]`), false},
		"lists of many objects":   {containers(texts(100, `{"name":"c#","env":`+texts(1000, `{"name":"e#"}`)+`}`)), containers(texts(100, `{"name":"c#","env":`+texts(1000, `{"name":"f#"}`)+`}`)), true},
		"lists of objects":        {containers(texts(300, `{"name":"c#","env":[{"name":"a"},{"name":"b"}]}`)), containers(texts(300, `{"name":"c#","env":`+texts(10, `{"name":"e#"}`)+`}`)), false},
		"a key again":             {env(1, "a#"), containers(texts(2000, `{"name":"c","env":[{"name":"e#"},{"name":"f#"},{"name":"g#"}]}`)), true},
		"a key twice":             {containers(`[{"name":"c","ports":[{"containerPort":53,"protocol":"TCP"}]}]`), containers(`[{"name":"c","ports":[{"containerPort":53,"protocol":"UDP"},{"containerPort":53,"protocol":"TCP"}]}]`), false},
		"an object that goes":     {env(1, "a#"), `{"$deleteFromPrimitiveList/spec":{"containers":` + twice("e#", "f#") + `}}`, true},
		"a list of objects goes":  {env(1, "a#"), `{"spec":{"$deleteFromPrimitiveList/containers":` + twice("e#", "f#") + `}}`, true},
		"a short one that goes":   {env(1, "a#"), `{"$deleteFromPrimitiveList/spec":{"containers":[{"name":"c","env":` + texts(200, `{"name":"f#"}`) + `}]}}`, false},
		"none that goes":          {`{"spec":{}}`, `{"$deleteFromPrimitiveList/status":{"containerStatuses":` + texts(20_000, `{"name":"f#"}`) + `}}`, false},
		"an object, and it goes":  {env(1, "a#"), `{"spec":{"$patch":"replace","containers":[{"name":"c","env":` + texts(20_000, `{"name":"e#"}`) + `}]},"$deleteFromPrimitiveList/spec":{"containers":[{"name":"c","env":` + texts(20_000, `{"name":"f#"}`) + `}]}}`, true},
		"a list, and it goes":     {env(1, "a#"), `{"spec":{"containers":[{"name":"c","env":` + texts(20_000, `{"name":"e#"}`) + `}],"$deleteFromPrimitiveList/containers":[{"name":"c","env":` + texts(20_000, `{"name":"f#"}`) + `}]}}`, true},
		"null of what goes":       {env(20_000, "e#"), `{"spec":{"containers":[{"name":"c","$deleteFromPrimitiveList/env":null},{"name":"c","env":` + texts(20_000, `{"name":"f#"}`) + `}]}}`, false},
		"one in another's place":  {volume(`{"labels":{}}`), `{"spec":{"volumes":[` + volumes(`{"$patch":"replace","finalizers":`+texts(100_000, `"e#"`)+`}`, `{"finalizers":`+texts(100_000, `"f#"`)+`}`) + `]}}`, true},
		"nothing in its place":    {volume(`{"finalizers":` + texts(100_000, `"e#"`) + `}`), `{"spec":{"volumes":[` + volumes(`{"$patch":"delete"}`, `{"finalizers":`+texts(100_000, `"f#"`)+`}`) + `]}}`, false},
		"null keys":               {env(1, "a#"), containers(`[{"name":null,"env":` + texts(20_000, `{"name":"e#"}`) + `},{"name":null,"env":` + texts(20_000, `{"name":"f#"}`) + `}]`), true},
		"a null key there":        {containers(`[{"name":null,"env":` + texts(20_000, `{"name":"e#"}`) + `}]`), containers(`[{"name":null,"env":` + texts(20_000, `{"name":"f#"}`) + `}]`), true},
		"keys that are none":      {containers(texts(200, `{"name":{}},{"name":[]},{"name":null},{}`)), containers(texts(200, `{"name":{}},{"name":[]},{"name":null},{},null,1,[]`)), false},
		"directives of odd types": {finalizers(texts(200, `"f#"`)), `{"metadata":{"$setElementOrder/finalizers":1,"$deleteFromPrimitiveList/finalizers":{},"$setElementOrder/x":[1],"y":[1],"z":{"a":[1]}},"$setElementOrder/$deleteFromPrimitiveList/a":[1]}`, false},
	} {
		from, by := stateOf(t, c.old), stateOf(t, c.patch)
		err := checkMerging(from.Tree, by.Tree, newPod())
		if apierrors.IsRequestEntityTooLargeError(err) != c.refused || err != nil && !c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Few items are not looked at, wherever they are.
func TestItemsOfLists(t *testing.T) {
	if n := itemsIn(stateOf(t, `{"a":[1,[2,3],{"b":[4]}],"c":{"d":[{"e":[]}]},"f":"x"}`).Tree); n != 7 {
		t.Errorf("%d items", n)
	}
}

// What is refused is refused before it is merged, and what is not is merged.
func TestPatchesOfLongLists_UPD07(t *testing.T) {
	from := stateOf(t, finalizers(`["a"]`))
	for n, refused := range map[int]bool{1000: false, 100_000: true} {
		p, _, err := Decode(strategic, []byte(finalizers(texts(n, `"f#"`))), newPod)
		if err != nil {
			t.Fatal(err)
		}
		quick(t, func() {
			tree, _, err := p(from)
			if refused {
				if !apierrors.IsRequestEntityTooLargeError(err) || !strings.Contains(err.Error(), "too long to merge") {
					t.Errorf("%d: %v", n, err)
				}
				return
			}
			if err != nil || len(asObject(tree["metadata"])["finalizers"].([]any)) != n+1 {
				t.Errorf("%d: %v", n, err)
			}
		})
	}
	if len(asObject(from.Tree["metadata"])["finalizers"].([]any)) != 1 {
		t.Error("the object was changed")
	}
}
