package offline

import (
	"slices"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/plugins/signature"
)

// NewKey implements [workbench.Signing].
func (Tools) NewKey() (private, public []byte, err error) { return signature.Generate() }

// Sign implements [workbench.Signing].
func (Tools) Sign(what workbench.Signed) ([]byte, error) {
	key, err := signature.ParsePrivateKey(what.Key)
	if err != nil {
		return nil, workbench.KeyError{Err: err}
	}
	signed, all, err := signature.Split(what.Content)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, key.Public().Made)
	made, err := signature.Sign(signed, what.For, key)
	if err != nil {
		return nil, err
	}
	return signature.Join(signed, append(all, made))
}

// Verify implements [workbench.Signing].
func (Tools) Verify(what workbench.Signed) (out workbench.Verified, err error) {
	key, err := signature.ParsePublicKey(what.Key)
	if err != nil {
		return out, workbench.KeyError{Err: err}
	}
	signed, all, err := signature.Split(what.Content)
	out = workbench.Verified{Signed: signature.Digest(signed), Signatures: len(all), Key: key.ID()}
	if err == nil {
		_, err = signature.Verify(out.Signed, what.For, all, []signature.PublicKey{key})
	}
	if err != nil {
		out.Problem = err.Error()
	}
	return out, nil
}
