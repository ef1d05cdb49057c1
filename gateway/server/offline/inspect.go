package offline

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	modules "github.com/wasmgate/wasmgate/plugins/wasm/binary"
)

// Inspect implements [workbench.Tools].
func (Tools) Inspect(ctx context.Context, m workbench.Module) (workbench.Inspection, error) {
	decoded, err := modules.Decode(m.Content)
	if err != nil {
		return workbench.Inspection{}, err
	}
	out := workbench.Inspection{Digest: digest(m.Content), Size: len(m.Content), Producers: producers(m.Content)}
	kinds := map[modules.Kind]string{modules.Func: "func", modules.Table: "table", modules.Memory: "memory", modules.Global: "global"}
	for _, e := range decoded.Exports {
		out.Exports = append(out.Exports, kinds[e.Kind]+" "+e.Name)
	}
	for _, i := range decoded.Imports {
		out.Imports = append(out.Imports, kinds[i.Kind]+" "+i.Module+"."+i.Name)
	}
	r, err := load(ctx, m)
	if err != nil {
		out.Problem = err.Error()
		return out, nil
	}
	defer r.close()
	out.ABI = fmt.Sprintf("%s%d", r.Dialect.Before(), r.ABI)
	for _, h := range r.Hooks {
		out.Hooks = append(out.Hooks, string(h))
	}
	for _, c := range r.Conversions {
		text := c.From + "->" + c.To
		if c.Kind != "" {
			text = c.Kind + ":" + text
		}
		out.Conversions = append(out.Conversions, text)
	}
	return out, nil
}

// maxProducers is how many languages and tools are read.
const maxProducers = 50

// producers are what the section of that name says: languages, tools and SDKs with
// their versions. The module was decoded, so its sections are where they should be;
// what this one holds is read as far as it can be.
func producers(module []byte) (all []string) {
	r := lebReader{module[8:]}
	for len(r.left) > 0 {
		id := r.take(1)
		section := lebReader{r.take(r.number())}
		if len(id) == 0 || id[0] != 0 || string(section.text()) != "producers" {
			continue
		}
		for range section.number() {
			field := string(section.text())
			for range section.number() {
				name, version := string(section.text()), string(section.text())
				if name == "" || len(all) == maxProducers || len(section.left) == 0 && version == "" && field == "" {
					return all
				}
				text := field + " " + name
				if version != "" {
					text += " " + version
				}
				all = append(all, text)
			}
		}
	}
	return all
}

// lebReader reads what a section holds; at its end there are only zeros.
type lebReader struct{ left []byte }

func (r *lebReader) number() int {
	n, size := binary.Uvarint(r.left)
	if size <= 0 || n > uint64(len(r.left)) {
		r.left = nil
		return 0
	}
	r.left = r.left[size:]
	return int(n)
}

func (r *lebReader) take(n int) []byte {
	if n > len(r.left) {
		n = len(r.left)
	}
	out := r.left[:n]
	r.left = r.left[n:]
	return out
}

func (r *lebReader) text() []byte { return r.take(r.number()) }
