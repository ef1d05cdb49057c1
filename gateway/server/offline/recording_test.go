package offline_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/conversion/draft/project"
	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/gateway/server/offline"
)

// Samples are made of objects, as files that have the names that are told.
func TestObjectsAreRecorded(t *testing.T) {
	const one = `{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"secret","namespace":"n"},"host":"internal","port":"80"}`
	what := workbench.Recording{Definitions: example(t, "crd-lossless.yaml"), Version: "v1", Most: 5, Objects: [][]byte{
		[]byte(one), []byte(`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"b","namespace":"n"}}`)}}
	got, err := offline.Tools{}.Record(t.Context(), what)
	if err != nil || got.Definition != "crontabs.example.com" || got.Version != "v1" || got.Objects != 2 || got.Refused != 0 || got.Reached != 2 || got.Fields != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	var names []string
	for _, f := range got.Files {
		names = append(names, f.Name)
		if text := string(f.Content); !strings.Contains(text, "apiVersion: example.com/v1\n") || strings.Contains(text, "internal") || strings.Contains(text, "secret") {
			t.Errorf("%s has\n%s", f.Name, text)
		}
	}
	if len(names) == 0 || names[0] != "crontab-v1-1.yaml" || !slices.Equal(names, got.Names) {
		t.Errorf("%q, %q", names, got.Names)
	}
	what.Objects = nil
	if got, err = (offline.Tools{}).Record(t.Context(), what); err != nil || got.Names == nil || len(got.Names) > 0 || got.Objects != 0 {
		t.Errorf("of nothing: %+v, %v", got, err)
	}
	for want, change := range map[string]func(r *workbench.Recording){
		"the file has no CustomResourceDefinition":                                 func(r *workbench.Recording) { r.Definitions = []byte("a: b") },
		"crontabs.example.com has no version v7":                                   func(r *workbench.Recording) { r.Version = "v7" },
		"an object is example.com/v1 CronTab, and not example.com/v1beta1 CronTab": func(r *workbench.Recording) { r.Version = "v1beta1" },
		"an object is example.com/v1 Other, and not example.com/v1 CronTab": func(r *workbench.Recording) {
			r.Objects = [][]byte{[]byte(strings.Replace(one, "CronTab", "Other", 1))}
		},
		"unexpected end of JSON input":                             func(r *workbench.Recording) { r.Objects = [][]byte{[]byte(`{`)} },
		"an object is <nil> <nil>, and not example.com/v1 CronTab": func(r *workbench.Recording) { r.Objects = [][]byte{[]byte(`{}`)} },
	} {
		r := workbench.Recording{Definitions: what.Definitions, Version: "v1", Most: 1, Objects: [][]byte{[]byte(one)}}
		change(&r)
		if _, err := (offline.Tools{}).Record(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Who is interrupted is told so, and gets no half of what was asked for.
func TestToolsAreInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rules := workbench.Module{Name: "rules.yaml", Content: example(t, "rules.yaml")}
	definitions := example(t, "crd-lossless.yaml")
	objects := [][]byte{[]byte(`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"a"},"host":"h","port":"1"}`)}
	for name, err := range map[string]func() error{
		"test": func() error {
			_, err := offline.Tools{}.Try(ctx, workbench.Samples{Module: rules, Definitions: definitions, Objects: objects})
			return err
		},
		"record": func() error {
			_, err := offline.Tools{}.Record(ctx, workbench.Recording{Definitions: definitions, Version: "v1", Objects: objects, Most: 1})
			return err
		},
		"compare": func() error {
			_, err := offline.Tools{}.Compare(ctx, workbench.Comparison{A: rules, B: rules, Corpus: workbench.Corpus{Definitions: definitions, Objects: objects}})
			return err
		},
		"made": func() error {
			_, err := offline.Tools{}.Compare(ctx, workbench.Comparison{A: rules, B: rules, Corpus: workbench.Corpus{Definitions: definitions, Made: 3}})
			return err
		},
		"bench": func() error {
			_, err := offline.Tools{}.Bench(ctx, workbench.Bench{Module: rules, Batches: []int{1}, Time: time.Millisecond, Corpus: workbench.Corpus{Definitions: definitions, Objects: objects}})
			return err
		},
		"init": func() error { _, err := offline.Tools{}.Draft(ctx, workbench.Draft{Language: "rules"}); return err },
	} {
		if err := err(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A corpus has to be of the versions that there are, and more than one of them.
func TestCorporaThatDoNotFit(t *testing.T) {
	rules := workbench.Module{Name: "rules.yaml", Content: example(t, "rules.yaml")}
	fits := example(t, "crd-lossless.yaml")
	for want, what := range map[string]workbench.Corpus{
		"the file has no CustomResourceDefinition":           {Definitions: []byte("a: b")},
		"has one version":                                    {Definitions: example(t, "crd-v1beta1.yaml")},
		"crontabs.example.com has no version example.com/v7": {Definitions: fits, Objects: [][]byte{[]byte(`{"apiVersion":"example.com/v7","kind":"CronTab"}`)}},
	} {
		if _, err := (offline.Tools{}).Compare(t.Context(), workbench.Comparison{A: rules, B: rules, Corpus: what}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("comparing: got %v, want %s", err, want)
		}
		if _, err := (offline.Tools{}).Bench(t.Context(), workbench.Bench{Module: rules, Corpus: what}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("measuring: got %v, want %s", err, want)
		}
	}
	made, err := offline.Tools{}.Bench(t.Context(), workbench.Bench{Module: rules, Batches: []int{2}, Corpus: workbench.Corpus{Definitions: fits, Objects: [][]byte{
		[]byte(`{"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"a"},"hostPort":7}`)}}})
	if err != nil || len(made.Rows) > 0 || len(made.Problems) != 1 || !strings.HasPrefix(made.Problems[0], "v1beta1 to v1: ") {
		t.Errorf("what nothing converts is measured: %+v, %v", made, err)
	}
}

func TestLanguagesOfProjects(t *testing.T) {
	if got := (offline.Tools{}).Languages(); len(got) < 3 || !slices.Equal(got, project.Languages) {
		t.Errorf("%q", got)
	}
}
