package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

// The comparison itself, over two small types with a converter: what it takes for right,
// for marked and for wrong is what it should.
func TestConvertersAreTheOracle(t *testing.T) {
	s := subject{Pairs: []versions{{File: "widgets.yaml", Kind: "Widget", From: "v1alpha1", To: "v1", Package: "api"}}}
	t.Setenv("GOPROXY", "off")
	reports, err := s.measure(t.Context(), module{Path: "example.com/widgets", Dir: "testdata/widgets"})
	if err != nil {
		t.Fatal(err)
	}
	r := reports[0]
	var got []string
	for _, f := range r.fields {
		got = append(got, f.verdict+": "+f.what+" "+f.at+" to "+f.theirs)
		if f.unseen != (f.at == "spec.tricky") {
			t.Errorf("%s is alike in both schemas: %t", f.at, f.unseen)
		}
	}
	want := []string{
		"right: dropped spec.gone to nothing",
		"right, marked: moved spec.list[*].subPath to spec.list[*].path",
		"wrong, marked: moved spec.live to spec.elsewhere",
		"right: values spec.policy to spec.policy",
		"right: moved spec.replicaCount to spec.replicas",
		"right, marked: moved, values spec.timeout to spec.timeoutSeconds",
		"wrong, without a mark: values spec.tricky to spec.tricky",
		"right, marked: moved spec.volume to spec.storage",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if r.changed != 8 || r.dropped != 1 || r.right != 3 || r.rightMarked != 3 || r.wrongMarked != 1 || r.wrong != 1 || r.unseen != 1 || r.broken+r.brokenMarked != 0 || r.refused != 0 {
		t.Errorf("the figures are %+v", r)
	}
}

// A program with converters ends, too, where a pair cannot be compared; nobody else waits
// for it before its folder goes away.
func TestProgramsEndWhereAPairFails(t *testing.T) {
	s := subject{Pairs: []versions{{File: "missing.yaml", Kind: "Widget", From: "v1alpha1", To: "v1", Package: "api"}}}
	t.Setenv("GOPROXY", "off")
	m := module{Path: "example.com/widgets", Dir: "testdata/widgets"}
	o, err := newOracle(t.Context(), t.TempDir(), m, s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ask(t.Context(), o, m); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a definition that is missing: %v", err)
	}
	if o.cmd.ProcessState == nil {
		t.Error("the program still runs")
	}
}

// A module is not copied on once nobody waits for it.
func TestCopiesEndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := copyModule(ctx, t.TempDir(), module{Dir: "testdata/widgets"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a copy that is given up: %v", err)
	}
}

// All pairs are told in a form that can be asked.
func TestPublishedPairsCanBeAsked(t *testing.T) {
	var all []subject
	if err := yaml.UnmarshalStrict(published, &all); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, p := range s.Pairs {
			if p.File == "" || p.Kind == "" || p.From == "" || p.To == "" || p.Package == "" {
				t.Errorf("%s: %+v", s.Module, p)
			}
		}
	}
}
