package body

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
	goyamlv2 "sigs.k8s.io/yaml/goyaml.v2"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// yamlToJSON converts one YAML document. What is JSON already is read as such,
// which is quicker, where it comes to the same. The library bounds nesting; errors are
// in its words.
func yamlToJSON(body []byte) ([]byte, error) {
	if trimmed := strings.TrimLeft(string(body[:min(len(body), 64)]), " \t\r\n"); strings.HasPrefix(trimmed, "{") {
		if tree, _, err := object.Parse(body); err == nil && sameAsYAML(body) {
			return object.Encode(tree)
		}
	}
	if err := boundAliases(body); err != nil {
		return nil, err
	}
	if err := oneDocument(body); err != nil {
		return nil, err
	}
	out, err := yaml.YAMLToJSONStrict(body)
	if err == nil {
		return out, nil
	}
	if out, lax := yaml.YAMLToJSON(body); lax == nil { // only duplicate keys: the last one counts
		return out, nil
	}
	return nil, err
}

// oneDocument refuses a second document: a request is about one object, and
// one that is dropped without a word looks to the sender as if it were kept.
// Later documents that say nothing do not count. What makes JSON of it stops
// after the first.
func oneDocument(body []byte) error {
	if !bytes.Contains(body, []byte("---")) && !bytes.Contains(body, []byte("...")) {
		return nil
	}
	in := goyaml.NewDecoder(bytes.NewReader(body))
	for first := true; ; first = false {
		var doc goyaml.Node
		err := in.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !first && !empty(&doc) {
			return errors.New("the body holds several documents; send one object at a time")
		}
	}
}

// empty tells a document that says nothing.
func empty(doc *goyaml.Node) bool {
	return len(doc.Content) == 0 || doc.Content[0].Kind == goyaml.ScalarNode && doc.Content[0].Tag == "!!null"
}

// noteRepeated adds to o the keys that a YAML document repeats, in the library's
// words; of each the last one counts. A refusal tells them in one, after a prefix,
// warnings one at a time.
func noteRepeated(body []byte, prefix string, o *resource.WriteOptions) {
	_, err := yaml.YAMLToJSONStrict(body)
	if err == nil {
		return
	}
	whole := prefix + err.Error()
	o.Problems = []string{whole}
	var all *goyamlv2.TypeError
	if warn := o.Warn; errors.As(err, &all) {
		o.Warn = func(text string) {
			if text != whole {
				warn(text)
				return
			}
			for _, one := range all.Errors {
				warn(one)
			}
		}
	}
}

// maxExpanded is how large a document with aliases may be once each stands
// for what it refers to; no object of that size can be stored.
const maxExpanded = 16 << 20

// mayAlias reports whether a document may have aliases.
func mayAlias(body []byte) bool {
	return bytes.IndexByte(body, '&') >= 0 && bytes.IndexByte(body, '*') >= 0
}

// boundAliases refuses a document that would become huge as JSON. The library
// counts nodes and not their size: three megabytes that repeat one long string
// by aliases would be hundreds of gigabytes.
func boundAliases(body []byte) error {
	if !mayAlias(body) {
		return nil
	}
	n, err := expanded(body)
	if err == nil && n.bytes > maxExpanded {
		err = fmt.Errorf("yaml: the document with its aliases replaced is larger than %d bytes", maxExpanded)
	}
	return err
}

// extent is how large a document is once each alias stands for what it refers to:
// about how many bytes of JSON, and of how many nodes. It is exact enough up to
// maxExpanded bytes, and just larger than that beyond.
type extent struct{ bytes, nodes int }

// expanded is the extent of a document.
func expanded(body []byte) (extent, error) {
	var doc goyaml.Node
	if err := goyaml.Unmarshal(body, &doc); err != nil {
		return extent{}, err
	}
	return expansion{anchors: map[*goyaml.Node]extent{}}.size(&doc)
}

// expansion computes extents, each anchor's once.
type expansion struct{ anchors map[*goyaml.Node]extent }

// pending is the extent of an anchor that is being computed.
var pending = extent{bytes: -1}

// size is the extent of a node.
func (e expansion) size(n *goyaml.Node) (extent, error) {
	if n.Kind == goyaml.AliasNode {
		n = n.Alias
		if known, ok := e.anchors[n]; ok && known != pending {
			return known, nil
		} else if ok {
			return extent{}, fmt.Errorf("anchor %q contains itself", n.Anchor)
		}
	}
	if n.Anchor != "" {
		e.anchors[n] = pending
	}
	total := extent{bytes: len(n.Value) + 3, nodes: 1} // quotes or brackets, and a comma
	for _, c := range n.Content {
		size, err := e.size(c)
		if err != nil {
			return extent{}, err
		}
		total.nodes += size.nodes
		if total.bytes += size.bytes; total.bytes > maxExpanded {
			total.bytes = maxExpanded + 1
			break
		}
	}
	if n.Anchor != "" {
		e.anchors[n] = total
	}
	return total, nil
}
