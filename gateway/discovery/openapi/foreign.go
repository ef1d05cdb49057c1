package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	gproto "google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/util/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// What a description of another server may be, so that it can be walked through: how
// deep, how many things it has in each section, and how many bytes of it are kept.
const (
	maxDepth  = 200
	maxThings = 10_000
	maxKept   = 2 << 20
	// maxValues is how many values are put into protobuf at once, for which the library takes
	// some 30 microseconds each, and much memory. What Kubernetes has at v1 is 80,000.
	maxValues = 200_000
)

// Foreign is what another server says of one version in its own version 2 document. It
// is immutable and safe for concurrent use.
type Foreign struct {
	name   string
	hash   string
	things [sections]map[string]*thing
}

// thing is something that another server describes.
type thing struct {
	tree  any // as encoding/json reads it
	uses  []used
	piece *fragment
}

// used is a thing that another one refers to.
type used struct {
	section section
	name    string
}

// prefixes are how references to things of a section begin; paths have none.
var prefixes = [sections]string{definitionSection: "#/definitions/", parameterSection: "#/parameters/"}

// ReadForeign takes what is about one version from text, the version 2 document in JSON of
// another server, which is not trusted: what clients could not read is an error, and
// nothing of it is kept. It takes time, and memory of several times the text.
func ReadForeign(text []byte, version schema.GroupVersion) (*Foreign, error) {
	return made(func() (*Foreign, error) {
		f := &Foreign{name: version.String()}
		if err := f.read(text, version); err != nil {
			return nil, f.failed(err)
		}
		return f, nil
	})
}

// Same tells that two descriptions say the same.
func (f *Foreign) Same(other *Foreign) bool { return f.hash == other.hash }

// failed says why a description is not there; that may be long, where much is wrong.
func (f *Foreign) failed(why error) error {
	return fmt.Errorf("OpenAPI version 2 of %s, as its server describes it, is left out: %.500s", f.name, why.Error())
}

func (f *Foreign) read(text []byte, version schema.GroupVersion) error {
	if deep, _ := Extent(text); deep > maxDepth {
		return fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	var doc struct {
		Swagger                        string
		Paths, Definitions, Parameters map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return err
	}
	if doc.Swagger != "2.0" && (doc.Swagger != "" || doc.Paths == nil) { // simple servers leave it out
		return fmt.Errorf("it says swagger: %.20q, want 2.0", doc.Swagger)
	}
	all := [sections]map[string]json.RawMessage{doc.Paths, doc.Definitions, doc.Parameters}
	for s := range f.things {
		f.things[s] = map[string]*thing{}
		if len(all[s]) > maxThings {
			return fmt.Errorf("it has more than %d %s", maxThings, names[s])
		}
	}
	var next []used
	for path := range doc.Paths {
		if strings.HasPrefix(path, "/apis/"+version.Group+"/"+version.Version+"/") {
			next = append(next, used{pathSection, path})
		}
	}
	kept, values := 0, 0
	for len(next) > 0 {
		u := next[len(next)-1]
		next = next[:len(next)-1]
		if f.things[u.section][u.name] != nil {
			continue
		}
		_, more := Extent(all[u.section][u.name])
		if values += more; values > maxValues {
			return fmt.Errorf("more than %d values are about this version", maxValues)
		}
		t, err := readThing(u, all[u.section][u.name], version)
		if err != nil {
			return fmt.Errorf("%.100q of its %s: %w", u.name, names[u.section], err)
		}
		if kept += len(t.piece.json); kept > maxKept {
			return fmt.Errorf("more than %d bytes are about this version", maxKept)
		}
		f.things[u.section][u.name] = t
		next = append(next, t.uses...)
	}
	f.hash = f.makeHash()
	return f.understood()
}

// understood tells whether kubectl, and others with its library, make types of what is
// described: they take all of a document or nothing.
func (f *Foreign) understood() error {
	var parts [sections]fragments
	for s, things := range f.things {
		for _, t := range things {
			parts[s] = append(parts[s], t.piece)
		}
	}
	body, err := joinProtobuf(parts)
	if err != nil {
		return err
	}
	doc := &openapiv2.Document{}
	if err := gproto.Unmarshal(body.Joined(), doc); err != nil {
		return err
	}
	_, err = proto.NewOpenAPIData(doc)
	return err
}

// readThing reads a thing as clients would; text is nil where there is none.
func readThing(u used, text json.RawMessage, version schema.GroupVersion) (*thing, error) {
	if text == nil {
		return nil, errors.New("it is referred to and not there")
	}
	var typed any
	switch u.section {
	case pathSection:
		typed = &spec.PathItem{}
	case definitionSection:
		typed = &spec.Schema{}
	default:
		typed = &spec.Parameter{}
	}
	if err := json.Unmarshal(text, typed); err != nil {
		return nil, err
	}
	if s, ok := typed.(*spec.Schema); ok {
		if err := ownKinds(s, version); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(typed)
	if err != nil {
		return nil, err
	}
	t := &thing{}
	if err := json.Unmarshal(text, &t.tree); err != nil {
		return nil, err
	}
	if t.uses, err = uses(t.tree, nil, u.section == pathSection); err != nil {
		return nil, err
	}
	return t, t.encode(u)
}

// encode makes the piece of a thing, in all forms: so clients find out that none can be made.
func (t *thing) encode(u used) error {
	text, err := json.Marshal(t.tree)
	if err != nil {
		return err
	}
	if t.piece, err = newFragment(u.section, u.name, text); err != nil {
		return err
	}
	_, err = t.piece.protobuf()
	return err
}

// kindsKey is the extension that says of which kinds a schema is.
const kindsKey = "x-kubernetes-group-version-kind"

// ownKinds leaves only kinds of the version: nobody describes those of others.
func ownKinds(s *spec.Schema, version schema.GroupVersion) error {
	said, ok := s.Extensions[kindsKey]
	if !ok {
		return nil
	}
	list, ok := said.([]any)
	if !ok {
		return fmt.Errorf("%s is no list", kindsKey)
	}
	var own []any
	for _, one := range list {
		at, _ := one.(map[string]any)
		if kind, ok := at["kind"].(string); ok && at["group"] == version.Group && at["version"] == version.Version {
			own = append(own, map[string]any{"group": version.Group, "version": version.Version, "kind": kind})
		}
	}
	delete(s.Extensions, kindsKey)
	if len(own) > 0 {
		s.Extensions[kindsKey] = own
	}
	return nil
}

// uses appends what a tree refers to. Clients understand references to definitions, and
// in paths those to parameters.
func uses(tree any, to []used, inPath bool) ([]used, error) {
	var err error
	switch v := tree.(type) {
	case map[string]any:
		for key, value := range v {
			if at, ok := value.(string); ok && key == "$ref" {
				u, found := referred(at)
				if !found || u.section == parameterSection && !inPath {
					return nil, fmt.Errorf("it refers to %.100q, which is not understood", at)
				}
				to = append(to, u)
			} else if to, err = uses(value, to, inPath); err != nil {
				return nil, err
			}
		}
	case []any:
		for _, value := range v {
			if to, err = uses(value, to, inPath); err != nil {
				return nil, err
			}
		}
	}
	return to, nil
}

func referred(at string) (u used, ok bool) {
	for s, prefix := range prefixes {
		if name, found := strings.CutPrefix(at, prefix); prefix != "" && found {
			return used{section(s), name}, true
		}
	}
	return used{}, false
}

// makeHash digests all that is kept.
func (f *Foreign) makeHash() string {
	var all strings.Builder
	all.WriteString(f.name)
	for _, things := range f.things {
		all.WriteByte(0)
		for _, name := range slices.Sorted(maps.Keys(things)) {
			all.Write(things[name].piece.json)
		}
	}
	return digest([]byte(all.String()))
}
