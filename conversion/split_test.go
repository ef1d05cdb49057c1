package conversion

import (
	"bytes"
	"reflect"
	"runtime"
	"testing"
	"time"
)

// sized makes objects of the given sizes.
func sized(sizes ...int) [][]byte {
	out := make([][]byte, len(sizes))
	for i, n := range sizes {
		out[i] = bytes.Repeat([]byte("x"), n)
	}
	return out
}

func repeated(n, size int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = size
	}
	return out
}

func TestSplitIntoCalls_CRD12(t *testing.T) {
	for name, c := range map[string]struct {
		batch Batch
		sizes []int
		want  []int // how many objects each call carries
	}{
		"nothing":                    {Batch{}, nil, nil},
		"one":                        {Batch{}, []int{1}, []int{1}},
		"as many as one call takes":  {Batch{MaxObjects: 3}, repeated(3, 1), []int{3}},
		"one more":                   {Batch{MaxObjects: 3}, repeated(4, 1), []int{3, 1}},
		"the default count":          {Batch{}, repeated(1001, 1), []int{500, 500, 1}},
		"exactly the bytes":          {Batch{MaxBytes: 10}, []int{4, 6}, []int{2}},
		"one byte more":              {Batch{MaxBytes: 10}, []int{4, 7}, []int{1, 1}},
		"a large one travels alone":  {Batch{MaxBytes: 10}, []int{3, 11, 3, 3}, []int{1, 1, 2}},
		"a large one comes first":    {Batch{MaxBytes: 10}, []int{11, 3}, []int{1, 1}},
		"the default bytes":          {Batch{Parallel: 1}, []int{1 << 19, 1 << 19, 1}, []int{2, 1}},
		"too little to share":        {Batch{Parallel: 2}, []int{1 << 15, 1 << 15}, []int{2}},
		"shared by two":              {Batch{Parallel: 2}, repeated(4, 1<<15), []int{2, 2}},
		"shared by four":             {Batch{Parallel: 4}, repeated(8, 1<<15), []int{2, 2, 2, 2}},
		"shared by two, to the byte": {Batch{Parallel: 2}, []int{1 << 16, 1, 1 << 16}, []int{2, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			objects := sized(c.sizes...)
			var got []int
			at := 0
			for _, p := range c.batch.withDefaults().split(objects) {
				if p.from != at {
					t.Fatalf("a call begins at %d, the one before ended at %d", p.from, at)
				}
				got = append(got, p.to-p.from)
				at = p.to
			}
			if at != len(objects) || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v up to %d, want %v", got, at, c.want)
			}
		})
	}
}

func TestBatchDefaults_CRD12(t *testing.T) {
	want := Batch{MaxObjects: 500, MaxBytes: 1 << 20, Parallel: runtime.GOMAXPROCS(0), Timeout: 30 * time.Second}
	if got := (Batch{}).withDefaults(); got != want {
		t.Errorf("got %+v", got)
	}
	if got := (Batch{-1, -1, -1, -1, false}).withDefaults(); got != want {
		t.Errorf("got %+v", got)
	}
	one := Batch{1, 1, 1, 1, true}
	if got := one.withDefaults(); got != one {
		t.Errorf("got %+v", got)
	}
}

// What is in different namespaces is in different calls, if that is wanted.
func TestSplitByNamespace_WP01(t *testing.T) {
	of := func(namespaces ...string) (out [][]byte) {
		for _, ns := range namespaces {
			if ns == "" {
				out = append(out, []byte(`{"apiVersion":"a/v1","metadata":{"name":"n"},"spec":{"namespace":"no"}}`))
			} else {
				out = append(out, []byte(`{"apiVersion":"a/v1","metadata":{"labels":{"namespace":"no"},"name":"n","namespace":"`+ns+`"}}`))
			}
		}
		return out
	}
	for name, c := range map[string]struct {
		batch   Batch
		objects [][]byte
		want    []int
	}{
		"all together":       {Batch{}, of("a", "b", "b"), []int{3}},
		"of the cluster":     {Batch{Apart: true}, of("", "", ""), []int{3}},
		"one namespace":      {Batch{Apart: true}, of("a", "a", "a"), []int{3}},
		"two":                {Batch{Apart: true}, of("a", "a", "b"), []int{2, 1}},
		"in any order":       {Batch{Apart: true}, of("a", "b", "a", "", "a"), []int{1, 1, 1, 1, 1}},
		"a longer name":      {Batch{Apart: true}, of("a", "aa"), []int{1, 1}},
		"and no more of one": {Batch{Apart: true, MaxObjects: 2}, of("a", "b", "b", "b"), []int{1, 2, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []int
			for _, p := range c.batch.withDefaults().split(c.objects) {
				got = append(got, p.to-p.from)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
