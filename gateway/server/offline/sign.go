package offline

import (
	"slices"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
	"github.com/wasmgate/wasmgate/plugins/signature"
	"github.com/wasmgate/wasmgate/plugins/signature/keyless"
)

// NewKey implements [workbench.Signing].
func (Tools) NewKey(password []byte) (private, public []byte, err error) {
	if password == nil {
		return signature.Generate()
	}
	return signature.GenerateEncrypted(password)
}

// Sign implements [workbench.Signing].
func (Tools) Sign(what workbench.Signed) ([]byte, error) {
	if what.Bundle != nil {
		return carry(what)
	}
	key, err := signature.OpenPrivateKey(what.Key, what.Password)
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

// carry puts a bundle into a module, if it is of it. Nobody verifies it here.
func carry(what workbench.Signed) ([]byte, error) {
	signed, all, err := signature.Split(what.Content)
	if err != nil {
		return nil, err
	}
	one := []signature.Signature{{Bundle: string(what.Bundle)}}
	of := signature.Demand{Digest: signature.Digest(signed)}
	if err := of.Concerns(one[0], keyless.Unverified{}); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s signature.Signature) bool { return s.Bundle == one[0].Bundle })
	return signature.Join(signed, append(all, one...))
}

// Verify implements [workbench.Signing].
func (Tools) Verify(what workbench.Signed) (out workbench.Verified, err error) {
	by, err := authority(what, &out)
	if err != nil {
		return out, workbench.KeyError{Err: err}
	}
	signed, all, err := signature.Split(what.Content)
	out.Signed, out.Signatures = signature.Digest(signed), len(all)
	if err == nil {
		_, err = signature.Demand{Digest: out.Signed, Name: what.For}.Met(all, by)
	}
	if err != nil {
		out.Problem = err.Error()
	}
	return out, nil
}

// authority is who has to have signed, which out tells of.
func authority(what workbench.Signed, out *workbench.Verified) (signature.Authority, error) {
	who := what.Identity
	if who == nil {
		key, err := signature.ParsePublicKey(what.Key)
		out.Key = key.ID()
		return key, err
	}
	out.Issuer, out.Subject = who.Issuer, who.Subject
	roots, err := readRoots(who)
	if err != nil {
		return nil, err
	}
	return keyless.NewAuthority(roots, keyless.Identity{Issuer: who.Issuer, Subject: who.Subject})
}

func readRoots(who *workbench.Identity) (*keyless.Roots, error) {
	if who.TrustedRoot != nil {
		return keyless.ReadTrustedRoot(who.TrustedRoot)
	}
	return keyless.ReadPEM(who.Certificates, who.Logs)
}
