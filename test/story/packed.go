package story

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// packed is the recording of one story with many steps, few of which are
// answered alike by chance: a reply is written once, and rows name it.
type packed struct {
	// Requests is a digest of the steps that were sent.
	Requests string            `json:"requests"`
	Replies  []json.RawMessage `json:"replies"`
	// Rows are, for each step, the index of its reply.
	Rows []int `json:"rows"`
}

// mostUnpacked bounds a recording, in bytes, when it is read.
const mostUnpacked = 64 << 20

// ErrOtherRequests is that of a recording that was made of other requests: it
// has to be made anew.
var ErrOtherRequests = errors.New("what is recorded are the replies to other requests")

// File is the name of the file that a story's packed recording is in.
func (s Story) File() string { return strings.ReplaceAll(s.Name, " ", "-") + ".json.gz" }

// Pack writes the texts of the replies to a story's steps into a small file.
func (s Story) Pack(path string, replies []string) error {
	p := packed{Requests: s.digest()}
	known := map[string]int{}
	for _, text := range replies {
		i, ok := known[text]
		if !ok {
			i = len(p.Replies)
			known[text] = i
			p.Replies = append(p.Replies, json.RawMessage(text))
		}
		p.Rows = append(p.Rows, i)
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	if err := errors.Join(e.Encode(p), z.Close()); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// Unpack reads what Pack wrote: the text of the reply to each step.
func (s Story) Unpack(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var p packed
	if err := json.NewDecoder(io.LimitReader(z, mostUnpacked)).Decode(&p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if p.Requests != s.digest() {
		return nil, fmt.Errorf("%s: %w", path, ErrOtherRequests)
	}
	var texts []string
	for _, i := range p.Rows {
		if i < 0 || i >= len(p.Replies) {
			return nil, fmt.Errorf("%s: there is no reply %d", path, i)
		}
		texts = append(texts, string(p.Replies[i]))
	}
	return texts, nil
}

// digest tells stories apart by what they send.
func (s Story) digest() string {
	h := sha256.New()
	for _, step := range s.Steps {
		fmt.Fprintf(h, "%q %q %q %q %q\n", step.Method, step.Path, step.Type, step.Body, step.Accept)
		if len(step.Headers) > 0 {
			fmt.Fprintf(h, "%q\n", step.Headers)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
