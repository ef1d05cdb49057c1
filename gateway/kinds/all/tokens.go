package all

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/wasmgate/wasmgate/gateway/kinds/serviceaccount"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/pki"
)

// newTokens makes what signs and believes the tokens of service accounts.
func newTokens(o options.Serve, objects serviceaccount.Objects) (*serviceaccount.Tokens, error) {
	key, err := signingKey(o)
	if err != nil {
		return nil, fmt.Errorf("--service-account-signing-key-file: %w", err)
	}
	tokens := &serviceaccount.Tokens{
		Key: key, Issuers: o.ServiceAccountIssuers, MaxExpiration: o.ServiceAccountMaxTokenExpiration, ExtendExpiration: o.ServiceAccountExtendTokenExpiration,
		Objects: objects,
	}
	for _, file := range o.ServiceAccountKeyFiles {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--service-account-key-file: %w", err)
		}
		verifiers, err := serviceaccount.ParseVerifiers(text)
		if err != nil {
			return nil, fmt.Errorf("--service-account-key-file: %s: %w", file, err)
		}
		tokens.Verifiers = append(tokens.Verifiers, verifiers...)
	}
	return tokens, nil
}

// signingKey is the operator's key, or one of the gateway's own.
func signingKey(o options.Serve) (*serviceaccount.Key, error) {
	file := o.ServiceAccountSigningKeyFile
	if file == "" {
		text, err := pki.TokenKey(filepath.Join(o.DataDir, "pki"))
		if err != nil {
			return nil, err
		}
		return serviceaccount.ParseKey(text)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	key, err := serviceaccount.ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return key, nil
}
