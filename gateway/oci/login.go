package oci

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"
)

// Login holds credentials by registry. The zero value has none. A registry is
// never shown the credentials of another.
type Login struct {
	byHost map[string]auth.Credential
}

// ReadLogin reads credentials in the form of docker's config.json, which is what
// a Secret of the type kubernetes.io/dockerconfigjson holds. The error never
// holds a credential.
func ReadLogin(config []byte) (Login, error) {
	var file struct {
		Auths map[string]struct {
			Auth          string `json:"auth"`
			Username      string `json:"username"`
			Password      string `json:"password"`
			IdentityToken string `json:"identitytoken"`
			RegistryToken string `json:"registrytoken"`
		} `json:"auths"`
	}
	if json.Unmarshal(config, &file) != nil { // whose words might quote it
		return Login{}, errors.New("it is not the JSON of a docker config file")
	}
	login := Login{byHost: map[string]auth.Credential{}}
	for name, entry := range file.Auths {
		c := auth.Credential{Username: entry.Username, Password: entry.Password, RefreshToken: entry.IdentityToken, AccessToken: entry.RegistryToken}
		if entry.Auth != "" {
			plain, err := base64.StdEncoding.DecodeString(entry.Auth)
			user, password, ok := strings.Cut(string(plain), ":")
			if err != nil || !ok {
				return Login{}, fmt.Errorf("auths[%q].auth is not USER:PASSWORD in base64", name)
			}
			c.Username, c.Password = user, password
		}
		login.byHost[hostOf(name)] = c
	}
	return login, nil
}

// credential is what oras asks for credentials.
func (l Login) credential(ref registry.Reference) auth.CredentialFunc {
	for _, name := range []string{ref.Registry, ref.Host(), aliases[ref.Registry]} {
		if c, ok := l.byHost[name]; ok {
			return auth.StaticCredential(ref.Host(), c)
		}
	}
	return nil
}

// aliases are the names under which docker keeps credentials of registries that
// references call differently.
var aliases = map[string]string{"docker.io": "index.docker.io"}

// hostOf is the registry that a key of docker's file means, which may be a URL.
func hostOf(name string) string {
	_, rest, ok := strings.Cut(name, "://")
	if !ok {
		rest = name
	}
	host, _, _ := strings.Cut(rest, "/")
	return host
}
