// Package convtest owns the conformance kit of conversion.Converter: what the
// engine relies on, whoever converts. Every implementation runs it, wrapped by
// conversion.Checked as it is in use.
//
// It must not know any implementation. Only tests import it.
package convtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/convtest/faults"
)

// The versions of the kit's CronTab, of group example.com.
const (
	V1beta1 = "example.com/v1beta1"
	V1      = "example.com/v1"
)

// Subject is a converter under test.
type Subject struct {
	// New makes the converter; it is checked by the kit.
	New func(t *testing.T) conversion.Converter
	// None says that versions have the same fields; else v1beta1's hostPort
	// becomes v1's host and port, as in examples/crontab.
	None bool
	// Parsed says that numbers are parsed, to what API objects have: int64 and
	// float64.
	Parsed bool
}

// Object returns the i-th test object at a version.
func Object(i int, version string) []byte {
	spec := fmt.Sprintf(`"hostPort":"host%d:%d"`, i, 1000+i)
	if version == V1 {
		spec = fmt.Sprintf(`"host":"host%d","port":"%d"`, i, 1000+i)
	}
	return fmt.Appendf(nil, `{"apiVersion":%q,"kind":"CronTab","metadata":{"annotations":{"a":"\u00e9\"b"},"creationTimestamp":"2019-09-04T14:03:02Z",`+
		`"finalizers":["example.com/keep"],"generation":%d,"labels":{"i":"%d"},"managedFields":[{"apiVersion":"example.com/v1beta1","fieldsType":"FieldsV1","fieldsV1":{"f:hostPort":{}},"manager":"m","operation":"Update"}],`+
		`"name":"tab-%d","namespace":"default","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u"}],"resourceVersion":"%d","uid":"uid-%d"},%s,"spec":{"big":12345678901234567890,"deep":[{"x":[1.50,null,true]}]}}`,
		version, i, i, i, 100+i, i, spec)
}

// Run runs the kit.
func Run(t *testing.T, s Subject) {
	convert := conversion.Checked(s.New(t))
	t.Run("CRD-10 CRD-14 one object, both ways", func(t *testing.T) { s.both(t, convert) })
	t.Run("CRD-12 many objects in mixed versions, in order", func(t *testing.T) { s.mixed(t, convert) })
	t.Run("CRD-12 many calls' worth of objects", func(t *testing.T) {
		s.mixed(t, conversion.Batched(convert, conversion.Batch{MaxObjects: 3, Parallel: 4}))
	})
	t.Run("no objects", func(t *testing.T) {
		if out, err := convert.Convert(t.Context(), V1, nil); err != nil || len(out) != 0 {
			t.Errorf("got %q, %v", out, err)
		}
	})
	t.Run("there and back is the same", func(t *testing.T) { s.roundTrip(t, convert) })
	t.Run("the same input gives the same output, many at a time", func(t *testing.T) { s.concurrent(t, convert) })
	t.Run("a context that has ended", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := convert.Convert(ctx, V1, [][]byte{Object(0, V1beta1)}); err == nil {
			t.Error("no error")
		}
	})
}

// want is what an object has to look like at a version.
func (s Subject) want(i int, from, to string) []byte {
	if s.None {
		return bytes.Replace(Object(i, from), []byte(from), []byte(to), 1)
	}
	return Object(i, to)
}

func (s Subject) same(t *testing.T, got, want []byte) {
	t.Helper()
	var g, w any
	if err := s.decode(got, &g); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if err := s.decode(want, &w); err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func (s Subject) decode(data []byte, into *any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if !s.Parsed {
		d.UseNumber()
	}
	return d.Decode(into)
}

func (s Subject) both(t *testing.T, convert conversion.Converter) {
	for _, v := range [][2]string{{V1beta1, V1}, {V1, V1beta1}} {
		in := Object(7, v[0])
		before := bytes.Clone(in)
		out, err := convert.Convert(t.Context(), v[1], [][]byte{in})
		if err != nil {
			t.Fatal(err)
		}
		s.same(t, out[0], s.want(7, v[0], v[1]))
		if !bytes.Equal(in, before) {
			t.Error("the input was changed")
		}
	}
}

func (s Subject) mixed(t *testing.T, convert conversion.Converter) {
	var in, want [][]byte
	for i := range 25 {
		from := V1beta1
		if i%3 == 1 {
			from = V1
		}
		in = append(in, Object(i, from))
		if from == V1 {
			want = append(want, in[i])
		} else {
			want = append(want, s.want(i, from, V1))
		}
	}
	out, err := convert.Convert(t.Context(), V1, in)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != len(in) {
		t.Fatalf("%d objects of %d", len(out), len(in))
	}
	for i := range out {
		s.same(t, out[i], want[i])
	}
}

func (s Subject) roundTrip(t *testing.T, convert conversion.Converter) {
	in := Object(3, V1beta1)
	there, err := convert.Convert(t.Context(), V1, [][]byte{in})
	if err != nil {
		t.Fatal(err)
	}
	back, err := convert.Convert(t.Context(), V1beta1, there)
	if err != nil {
		t.Fatal(err)
	}
	s.same(t, back[0], in)
}

func (s Subject) concurrent(t *testing.T, convert conversion.Converter) {
	first, err := convert.Convert(t.Context(), V1, [][]byte{Object(1, V1beta1)})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				out, err := convert.Convert(t.Context(), V1, [][]byte{Object(1, V1beta1)})
				if err != nil || !bytes.Equal(out[0], first[0]) {
					t.Errorf("got %q, %v", out, err)
				}
			}
		})
	}
	wg.Wait()
}

// Faults runs the table of faults over a converter whose replies are made by
// [faults.Reply]: each is refused in the same words, whoever carried it, but for
// how he is told of.
func Faults(t *testing.T, c conversion.Converter, told conversion.Told) {
	checked := conversion.Checked(c)
	for _, f := range faults.All {
		t.Run(f.Name, func(t *testing.T) {
			out, err := checked.Convert(t.Context(), V1, [][]byte{faults.Object(f.Name)})
			want := f.Want
			if !f.Whole {
				want = told.Converter + faults.About + want
			}
			if !f.Verdict {
				want += told.Hint
			}
			var typed *conversion.Error
			if out != nil || !errors.As(err, &typed) || err.Error() != want {
				t.Fatalf("got  %q, %v\nwant %s", out, err, want)
			}
			if typed.From != V1beta1 || typed.To != V1 || typed.Kind != "Thing" || len(typed.Objects) != 1 || typed.Objects[0] != "n/a" {
				t.Errorf("error is %#v", typed)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		out, err := checked.Convert(t.Context(), V1, [][]byte{faults.Object("none")})
		if want := bytes.Replace(faults.Object("none"), []byte("v1beta1"), []byte("v1"), 1); err != nil || !bytes.Equal(out[0], want) {
			t.Errorf("got %s, %v", out, err)
		}
	})
}
