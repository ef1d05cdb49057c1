package manifest

import (
	"strings"

	node "go.yaml.in/yaml/v3"
)

// LostComments are the lines of comments in a document in YAML that another text of it does
// not have, in their order: those of fields that went, and all where it was written anew.
func LostComments(document, text []byte) (lost []string) {
	left := map[string]int{}
	for _, line := range comments(text) {
		left[line]++
	}
	for _, line := range comments(document) {
		if left[line]--; left[line] < 0 {
			lost = append(lost, line)
		}
	}
	return lost
}

// comments are the lines of comments in a document; none of what is no YAML.
func comments(document []byte) (all []string) {
	var root node.Node
	if node.Unmarshal(document, &root) != nil {
		return nil
	}
	var walk func(n *node.Node)
	walk = func(n *node.Node) {
		for _, c := range []string{n.HeadComment, n.LineComment, n.FootComment} {
			for line := range strings.Lines(c) {
				if line = strings.TrimSpace(line); line != "" {
					all = append(all, line)
				}
			}
		}
		for _, in := range n.Content {
			walk(in)
		}
	}
	walk(&root)
	return all
}
