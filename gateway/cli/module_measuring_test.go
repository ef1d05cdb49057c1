package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

func (b *bench) Bench(_ context.Context, what workbench.Bench) (workbench.Measured, error) {
	b.corpus = what.Corpus
	return b.measured, b.err
}

func (b *bench) Compare(_ context.Context, what workbench.Comparison) (workbench.Compared, error) {
	b.corpus = what.Corpus
	return b.compared, b.err
}

func (b *bench) Answer(_ context.Context, what workbench.Request) (workbench.Answer, error) {
	b.request = what
	return b.answer, b.err
}

func TestWhatIsMeasuredIsPrinted(t *testing.T) {
	wasm, crd := written(t, "m.wasm", "wasm"), written(t, "crd.yaml", "crd")
	objects := written(t, "o.yaml", "kind: A\n---\n---\nkind: B\n")
	rows := workbench.Measured{Size: 9, Load: 1500 * time.Millisecond, Problems: []string{"v1 to v2: it cannot"},
		Rows: []workbench.Row{{From: "v1", To: "v2", Batch: 500, Bytes: 7, Took: time.Millisecond, PerObject: 2 * time.Microsecond, Fuel: 11, Memory: 12, Rounds: 13}}}
	differ := workbench.Compared{Conversions: 3, Same: 1, Places: []workbench.ComparedPath{{From: "v1", To: "v2", Field: "spec.a", Count: 2, A: `"x"`}}}
	for _, c := range []struct {
		b    bench
		args []string
		exit int
		want string
	}{
		{bench{measured: rows}, []string{"bench", wasm, "--crd", crd}, 0, "v1:v2   500     7       1ms    2µs          11     12       13\nleft out: v1 to v2: it cannot\n9 bytes, compiled and started in 1.5s\n"},
		{bench{measured: rows}, []string{"bench", wasm, "--crd", crd, "-o", "json"}, 0, `"perObjectNanoseconds": 2000`},
		{bench{}, []string{"bench", wasm, "--crd", crd}, 1, "converts none of the objects"},
		{bench{}, []string{"bench", wasm}, 2, "--crd is needed"},
		{bench{}, []string{"bench", wasm, "--crd", crd, "--batch", "0"}, 2, "--batch has to be from 1"},
		{bench{}, []string{"bench", wasm, "--crd", crd, "--objects", "0"}, 2, "--objects has to be more than 0"},
		{bench{compared: differ}, []string{"diff", wasm, wasm, "--crd", crd, "-f", objects}, 1, "v1:v2   spec.a   2         \"x\"   (nothing)\n3 conversions, 1 the same\n"},
		{bench{compared: differ}, []string{"diff", wasm, wasm, "--crd", crd, "-o", "json"}, 1, `"count": 2`},
		{bench{compared: workbench.Compared{Conversions: 1, Same: 1}}, []string{"diff", wasm, wasm, "--crd", crd}, 0, "1 conversions, 1 the same"},
		{bench{compared: workbench.Compared{Conversions: 3, Same: 2, Neither: 1, Said: "v1 to v2: no"}}, []string{"diff", wasm, wasm, "--crd", crd}, 0, "3 conversions, 2 the same, 1 that neither makes: v1 to v2: no\n"},
		{bench{compared: workbench.Compared{Conversions: 2, Neither: 2, Said: "v1 to v2: no"}}, []string{"diff", wasm, wasm, "--crd", crd}, 1, "2 conversions, 0 the same, 2 that neither makes: v1 to v2: no\n"},
		{bench{}, []string{"diff", wasm, "--crd", crd}, 2, "an argument is missing"},
		{bench{}, []string{"diff", wasm, wasm, "--crd", crd, "-f", written(t, "none.yaml", "---\n")}, 2, "there are no objects in"},
		{bench{answer: workbench.Answer{Hook: "h", Reply: `{"a":1}`, Log: []string{"said"}, Fuel: 5, Memory: 6}}, []string{"run", wasm, "-f", written(t, "r.yaml", "kind: A")}, 0, "log: said\n{\n    \"a\": 1\n}\nh: 5 fuel, 6 bytes of memory, 0s\n"},
		{bench{answer: workbench.Answer{Refused: "no"}}, []string{"run", wasm, "-f", written(t, "r.yaml", "kind: A"), "-o", "json"}, 1, "refused: no"},
		{bench{answer: workbench.Answer{Problem: "it traps"}}, []string{"run", wasm, "-f", written(t, "r.yaml", "kind: A")}, 1, "it traps"},
		{bench{}, []string{"run", wasm}, 2, "-f is missing"},
		{bench{}, []string{"run", wasm, "-f", objects}, 2, "has 2 objects, and one request is asked"},
	} {
		out, exit, err := c.b.run(t, append([]string{"module"}, c.args...)...)
		if err != nil {
			out += err.Error()
		}
		if exit != c.exit || !strings.Contains(out, c.want) {
			t.Errorf("%q: status %d\n%s\nwant %d, %s", c.args, exit, out, c.exit, c.want)
		}
	}
	b := &bench{answer: workbench.Answer{}}
	if _, _, err := b.run(t, "module", "run", wasm, "-f", written(t, "r.yaml", "kind: A"), "--objects", objects); err != nil || len(b.request.Objects) != 2 || string(b.request.Review) != `{"kind":"A"}` {
		t.Errorf("%v, %+v", err, b.request)
	}
	if _, _, err := b.run(t, "module", "diff", wasm, wasm, "--crd", crd, "-f", objects); err != nil || len(b.corpus.Objects) != 2 || b.corpus.Made != 100 {
		t.Errorf("%v, %+v", err, b.corpus)
	}
}
