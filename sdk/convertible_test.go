package sdk

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

type meta struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type now struct {
	Metadata meta `json:"metadata"`
	Size     int  `json:"size,omitempty"`
}

type before struct {
	Metadata meta   `json:"metadata"`
	Length   int    `json:"length,omitempty"`
	Never    string `json:"never,omitempty"`
}

func (b *before) ConvertTo(to *now) error {
	if b.Never != "" {
		return errors.New("never")
	}
	to.Metadata, to.Size = b.Metadata, b.Length
	delete(to.Metadata.Annotations, "gone")
	return nil
}

func (b *before) ConvertFrom(from *now) error {
	b.Metadata, b.Length = from.Metadata, from.Size
	return nil
}

// Types convert themselves to the hub, from it, and over it to each other; what their
// metadata no longer has goes, and what it never had stays.
func TestTypesThatConvertThemselves(t *testing.T) {
	hub := HubOf("Sized", "v2", func() *now { return &now{} })
	for _, version := range []string{"v0", "v1"} {
		hub.Spoke(version, func() Convertible[*now] { return &before{} })
	}
	for _, c := range []struct{ in, to, want string }{
		{`{"apiVersion":"g/v1","kind":"Sized","metadata":{"name":"n","uid":"u","annotations":{"gone":"x"},"labels":{"a":"b"}},"length":3}`, "g/v2", `{"apiVersion":"g/v2","kind":"Sized","metadata":{"name":"n","uid":"u","labels":{"a":"b"}},"size":3}`},
		{`{"apiVersion":"g/v2","kind":"Sized","metadata":{"name":"n"},"size":3,"other":1}`, "g/v1", `{"apiVersion":"g/v1","kind":"Sized","metadata":{"name":"n"},"length":3}`},
		{`{"apiVersion":"g/v0","kind":"Sized","metadata":{"name":"n","annotations":{"gone":"x","b":"c"}},"length":3}`, "g/v1", `{"apiVersion":"g/v1","kind":"Sized","metadata":{"name":"n","annotations":{"b":"c"}},"length":3}`},
		{`{"apiVersion":"g/v1","kind":"Sized","metadata":{"name":"n"},"never":"x"}`, "g/v2", "never"},
		{`{"apiVersion":"g/v1","kind":"Sized","metadata":{"name":"n"},"length":"x"}`, "g/v2", "cannot unmarshal string"},
	} {
		out, err := Apply([]byte(c.in), c.to)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s to %s: %v, want %s", c.in, c.to, err, c.want)
			}
			continue
		}
		var got, want any
		if json.Unmarshal(out, &got) != nil || json.Unmarshal([]byte(c.want), &want) != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s to %s:\n%s, want\n%s", c.in, c.to, out, c.want)
		}
	}
}
