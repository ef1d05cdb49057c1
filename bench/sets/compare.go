package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/bench/beside"
	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/custom"
)

// counts are of what was done.
type counts struct {
	definitions, versions, objects, requests, refusals, differences int
}

// comparison asks two servers the same.
type comparison struct {
	want, got *server
	samples   int
	seed      uint64
	counts
}

// since are the counts that came after others.
func (c *comparison) since(n counts) counts {
	return counts{
		c.definitions - n.definitions, c.versions - n.versions, c.objects - n.objects,
		c.requests - n.requests, c.refusals - n.refusals, c.differences - n.differences,
	}
}

// both asks both servers, prints where their answers differ, and returns the first's.
func (c *comparison) both(r request) (answer, error) {
	want, err := c.want.do(r)
	if err != nil {
		return want, err
	}
	got, err := c.got.do(r)
	if err != nil {
		return want, err
	}
	c.requests++
	if want.Code >= 300 {
		c.refusals++
	}
	want.Body, got.Body = masked(want.Body, ""), masked(got.Body, "")
	d := beside.Diff("", want.Body, got.Body)
	if want.Code != got.Code {
		d = append([]string{fmt.Sprintf("code %d, want %d", got.Code, want.Code)}, d...)
	}
	if !slices.Equal(want.Warnings, got.Warnings) {
		d = append(d, fmt.Sprintf("warnings %q, want %q", got.Warnings, want.Warnings))
	}
	if len(d) > 0 {
		c.differences++
		fmt.Printf("%s %s\n  %s\n", r.method, r.path, strings.Join(d[:min(len(d), 12)], "\n  "))
	}
	return want, nil
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// definition compares what becomes of a definition and of objects of it.
func (c *comparison) definition(d *apiextensionsv1.CustomResourceDefinition) error {
	c.definitions++
	named := definitions + "/" + d.Name
	for _, s := range []*server{c.want, c.got} { // of an earlier run
		if _, err := s.do(request{method: "DELETE", path: named}); err != nil {
			return err
		}
		if err := s.until(request{method: "GET", path: named}, func(a answer) bool { return a.Code == 404 }); err != nil {
			return err
		}
	}
	a, err := c.both(request{method: "POST", path: definitions + "?fieldManager=sets", media: inJSON, body: d})
	if err != nil || a.Code != 201 {
		return err
	}
	compiled, err := custom.Compile(d)
	if err != nil {
		return err
	}
	for _, s := range []*server{c.want, c.got} {
		if err := s.until(request{method: "GET", path: named}, established); err != nil {
			return err
		}
		for _, v := range d.Spec.Versions { // discovery follows a moment after the condition
			r := request{method: "GET", path: collection(d, v.Name)}
			if err := s.until(r, func(a answer) bool { return !v.Served || a.Code == 200 }); err != nil {
				return err
			}
		}
	}
	for _, v := range d.Spec.Versions {
		if v.Served {
			c.versions++
			if err := c.version(d, compiled, v.Name); err != nil {
				return err
			}
		}
	}
	if _, err := c.both(request{method: "GET", path: named}); err != nil {
		return err
	}
	_, err = c.both(request{method: "DELETE", path: named})
	return err
}

// collection is the path of a version's objects.
func collection(d *apiextensionsv1.CustomResourceDefinition, version string) string {
	path := "/apis/" + d.Spec.Group + "/" + version + "/"
	if d.Spec.Scope == apiextensionsv1.NamespaceScoped {
		path += "namespaces/default/"
	}
	return path + d.Spec.Names.Plural
}

// version compares what becomes of objects of a version.
func (c *comparison) version(d *apiextensionsv1.CustomResourceDefinition, compiled *crd.Definition, version string) error {
	samples, err := proof.Samples(compiled, version, c.seed)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(c.seed, 1))
	n := 0
	for obj := range samples {
		if n++; n > c.samples {
			break
		}
		if obj == nil { // no object was found that its rules take
			continue
		}
		c.objects++
		if err := c.object(d, version, fmt.Sprintf("sample-%d", n), obj, random); err != nil {
			return err
		}
	}
	for _, r := range []request{
		{method: "GET", path: collection(d, version)},
		{method: "GET", path: collection(d, version), accept: asTable},
		{method: "DELETE", path: collection(d, version)},
	} {
		if _, err := c.both(r); err != nil {
			return err
		}
	}
	return nil
}

// object compares what becomes of one: applied twice, read at each version, with a field
// that nobody knows, and with a value that is wrong.
func (c *comparison) object(d *apiextensionsv1.CustomResourceDefinition, version, name string, obj map[string]any, random *rand.Rand) error {
	obj["metadata"] = map[string]any{"name": name}
	delete(obj, "status") // which an apply of the whole object leaves alone
	one := collection(d, version) + "/" + name
	all := []request{
		{method: "PATCH", path: one + "?fieldManager=sets", media: inApply, body: obj},
		{method: "PATCH", path: one + "?fieldManager=sets", media: inApply, body: obj},
		{method: "GET", path: one, accept: asTable},
	}
	for _, v := range d.Spec.Versions {
		if v.Served {
			all = append(all, request{method: "GET", path: collection(d, v.Name) + "/" + name})
		}
	}
	renamed := copied(obj).(map[string]any)
	renamed["metadata"] = map[string]any{"name": name + "-other"}
	create := collection(d, version) + "?dryRun=All&fieldManager=sets"
	unknown := copied(renamed).(map[string]any)
	anywhere(unknown, random)["nobodyKnows"] = map[string]any{"a": 1}
	all = append(all,
		request{method: "POST", path: create, media: inJSON, body: renamed},
		request{method: "POST", path: create + "&fieldValidation=Strict", media: inJSON, body: unknown},
		request{method: "POST", path: create + "&fieldValidation=Warn", media: inJSON, body: unknown})
	for range 4 {
		all = append(all, request{method: "POST", path: create, media: inJSON, body: broken(renamed, random)})
	}
	for _, r := range all {
		if _, err := c.both(r); err != nil {
			return err
		}
	}
	return nil
}
