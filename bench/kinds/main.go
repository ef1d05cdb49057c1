package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"

	trees "github.com/wasmgate/wasmgate/bench/beside"
)

// outcome is what a server made of one manifest.
type outcome struct {
	Code    int            `json:"code"`
	Message string         `json:"message,omitempty"`
	Object  map[string]any `json:"object,omitempty"`
	Columns any            `json:"columns,omitempty"`
	Cells   any            `json:"cells,omitempty"`
	// causes are the reasons and fields of a refusal.
	causes []string
}

// record is one manifest with what kube-apiserver made of it.
type record struct {
	From     string         `json:"from"`
	Manifest map[string]any `json:"manifest"`
	outcome
	// media is the type in which it is sent.
	media string
}

func main() {
	peer := flag.String("peer", "https://127.0.0.1:6443", "`URL` of kube-apiserver")
	url := flag.String("url", "", "`URL` of the server to compare; empty only records")
	token := flag.String("token", "admintoken", "bearer token for both")
	out := flag.String("record", "", "`file` for kube-apiserver's answers")
	quiet := flag.Bool("q", false, "print only the counts")
	name := flag.String("name", "", "`name` that objects get, in place of all metadata that they have")
	flag.Parse()
	manifests, err := read(flag.Args())
	if err != nil {
		log.Fatal(err)
	}
	if *name != "" {
		for _, m := range manifests {
			m.Manifest["metadata"] = map[string]any{"name": *name}
		}
	}
	want := newServer(*peer, *token).all(manifests)
	if *out != "" {
		if err := write(*out, manifests, want); err != nil {
			log.Fatal(err)
		}
	}
	if *url != "" {
		compare(manifests, want, newServer(*url, *token).all(manifests), *quiet)
	}
}

// read collects the objects in files and folders.
func read(paths []string) ([]record, error) {
	var out []record
	for _, root := range paths {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			media := medias[filepath.Ext(path)]
			if err != nil || d.IsDir() || media == "" {
				return err
			}
			rel, _ := filepath.Rel(filepath.Dir(root), path)
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range objects(rel, data, media) {
				m.media = media
				out = append(out, m)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// objects are the objects of a file; what is none is left out.
func objects(from string, data []byte, media string) []record {
	var out []record
	if media == inProtobuf {
		if tree := fromProtobuf(from, data); tree != nil {
			out = append(out, record{From: from, Manifest: tree})
		}
		return out
	}
	d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		var tree map[string]any
		if err := d.Decode(&tree); err != nil {
			if err != io.EOF {
				log.Printf("%s: %v", from, err)
			}
			return out
		}
		items := []any{tree}
		if list, ok := tree["items"].([]any); ok {
			items = list
		}
		for _, item := range items {
			if m, ok := item.(map[string]any); ok && m["kind"] != nil && m["apiVersion"] != nil {
				out = append(out, record{From: from, Manifest: m})
			}
		}
	}
}

func write(path string, manifests []record, outcomes []outcome) error {
	for i := range manifests {
		manifests[i].outcome = outcomes[i]
	}
	data, err := json.MarshalIndent(manifests, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// compare prints differences and counts them.
func compare(manifests []record, want, got []outcome, quiet bool) {
	counts := map[string]int{}
	for i, m := range manifests {
		if want[i].Code == 0 { // kube-apiserver has no such kind
			continue
		}
		counts["all"]++
		name := fmt.Sprintf("%s: %s %v", m.From, m.Manifest["kind"], meta(m.Manifest)["name"])
		say := func(format string, args ...any) {
			if !quiet {
				fmt.Print(name, ": ", fmt.Sprintf(format, args...), "\n")
			}
		}
		if want[i].Code != got[i].Code {
			say("CODE %d, want %d\n  got  %.300s\n  want %.300s", got[i].Code, want[i].Code, got[i].Message, want[i].Message)
			continue
		}
		counts["same code"]++
		if want[i].Code >= 300 {
			counts["refused"]++
			if slices.Equal(want[i].causes, got[i].causes) {
				counts["same causes"]++
			} else {
				say("CAUSES\n  got  %v\n  want %v", beside(got[i].causes, want[i].causes), beside(want[i].causes, got[i].causes))
			}
			if want[i].Message == got[i].Message {
				counts["same message"]++
			} else {
				say("MESSAGE\n  got  %.300s\n  want %.300s", got[i].Message, want[i].Message)
			}
			continue
		}
		counts["stored"]++
		if d := trees.Diff("", want[i].Object, got[i].Object); len(d) > 0 {
			say("OBJECT\n  %s", strings.Join(d, "\n  "))
		} else {
			counts["same object"]++
		}
		if reflect.DeepEqual(want[i].Cells, got[i].Cells) && reflect.DeepEqual(want[i].Columns, got[i].Columns) {
			counts["same table"]++
		} else {
			say("TABLE\n  got  %v %v\n  want %v %v", got[i].Columns, got[i].Cells, want[i].Columns, want[i].Cells)
		}
	}
	fmt.Println(counts)
}

// beside are the causes that are not among others.
func beside(causes, others []string) []string {
	return slices.DeleteFunc(slices.Clone(causes), func(c string) bool { return slices.Contains(others, c) })
}
