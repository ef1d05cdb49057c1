package manifest

import (
	"bytes"
	"strings"
)

// Split returns the documents of a file in YAML. Together they are the file: the line
// that separates two of them begins the second.
func Split(text []byte) (documents [][]byte) {
	begin := 0
	for at := 0; at < len(text); {
		next := len(text)
		if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
			next = at + n + 1
		}
		if at > begin && separates(text[at:next]) {
			documents = append(documents, text[begin:at])
			begin = at
		}
		at = next
	}
	return append(documents, text[begin:])
}

func separates(line []byte) bool {
	rest, ok := strings.CutPrefix(string(line), "---")
	return ok && (rest == "" || strings.ContainsAny(rest[:1], " \t\r\n"))
}
