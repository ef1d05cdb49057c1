package quantity

import (
	"bytes"
	"reflect"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// CheckText is [CheckTree] of a text, for whoever reads that itself into a value of
// type t: readers read all of the fields that it has twice, of which a tree has the
// last, and numbers as they are written. It must be JSON, which is not checked.
func CheckText(text []byte, t reflect.Type) error {
	_, err := placesOf(t).checkText(text, 0)
	return err
}

// checkText looks at the value at i, and returns where that ends.
func (p *places) checkText(text []byte, i int) (end int, err error) {
	if p == nil {
		return rawjson.Pass(text, i), nil
	}
	w, err := rawjson.Open(text, i, true)
	if err != nil { // no container
		if end = rawjson.Pass(text, i); p.self {
			// As it is written: who reads quantities resolves no escapes, and takes none for one.
			err = Check(string(bytes.Trim(text[i:end], "\" \t\r\n")))
		} else {
			err = nil
		}
		return end, err
	}
	for w.Next() {
		at := p.each
		if w.IsObject() && at == nil {
			at = p.fields[fold(rawjson.Unescape(w.Key()))]
		}
		end, err := at.checkText(text, w.At())
		if err != nil {
			return end, err
		}
		w.Resume(end)
	}
	return w.End(), nil
}
