package server

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/wasmgate/wasmgate/gateway/kinds/serviceaccount"
	"github.com/wasmgate/wasmgate/gateway/pki"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// newTokens makes what signs and believes the tokens of service accounts.
func (g *gateway) newTokens() (*serviceaccount.Tokens, error) {
	o := g.options
	key, err := g.signingKey()
	if err != nil {
		return nil, fmt.Errorf("--service-account-signing-key-file: %w", err)
	}
	tokens := &serviceaccount.Tokens{
		Key: key, Issuers: o.ServiceAccountIssuers, MaxExpiration: o.ServiceAccountMaxTokenExpiration, ExtendExpiration: o.ServiceAccountExtendTokenExpiration,
		Objects: local.New(g.engine, resource.Component("tokens")),
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
func (g *gateway) signingKey() (*serviceaccount.Key, error) {
	file := g.options.ServiceAccountSigningKeyFile
	if file == "" {
		text, err := pki.TokenKey(filepath.Join(g.options.DataDir, "pki"))
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

// reread logs that a file of credentials was read again, or could not be.
func (g *gateway) reread(flag string, err error) {
	if err != nil {
		g.log.Error().Err(err).Str("component", "identity").Msgf("the file of %s cannot be read again: what it said before still counts", flag)
		return
	}
	g.log.Info().Str("component", "identity").Msgf("the file of %s has changed and counts as it is now", flag)
}
