package conversion

import (
	"bytes"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// fewKeys is up to how many keys it is faster to compare each with each.
const fewKeys = 16

// keys finds a key that comes twice. The zero value is ready to use.
type keys struct {
	few  [fewKeys][]byte
	n    int
	many map[string]bool // all keys, once few is full
}

// add takes the raw text between the quotes of a key.
func (k *keys) add(raw []byte) error {
	if bytes.IndexByte(raw, '\\') >= 0 {
		raw = []byte(rawjson.Unescape(raw))
	}
	if k.many != nil {
		return k.addToMany(raw)
	}
	for _, other := range k.few[:k.n] {
		if bytes.Equal(other, raw) {
			return duplicate(string(raw))
		}
	}
	if k.n < fewKeys {
		k.few[k.n] = raw
		k.n++
		return nil
	}
	k.many = make(map[string]bool, 2*fewKeys)
	for _, other := range k.few {
		k.many[string(other)] = true
	}
	return k.addToMany(raw)
}

func (k *keys) addToMany(raw []byte) error {
	if k.many[string(raw)] {
		return duplicate(string(raw))
	}
	k.many[string(raw)] = true
	return nil
}
