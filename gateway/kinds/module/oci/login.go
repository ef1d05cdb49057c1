package oci

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"
)

// Login holds credentials by registry, or by the beginning of the names of its
// repositories. The zero value has none. A registry is never shown the
// credentials of another.
type Login struct {
	byPlace map[string]auth.Credential
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
	login := Login{byPlace: map[string]auth.Credential{}}
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
		login.byPlace[placeOf(name)] = c
	}
	return login, nil
}

// credential is what oras asks for credentials: those of the longest name that
// the repository is below.
func (l Login) credential(ref registry.Reference) auth.CredentialFunc {
	for _, host := range []string{ref.Registry, ref.Host(), aliases[ref.Registry]} {
		if host == "" {
			continue
		}
		for place := host + "/" + ref.Repository; place != "."; place = path.Dir(place) {
			if c, ok := l.byPlace[place]; ok {
				return auth.StaticCredential(ref.Host(), c)
			}
		}
	}
	return nil
}

// aliases are the names under which docker keeps credentials of registries that
// references call differently.
var aliases = map[string]string{"docker.io": "index.docker.io"}

// placeOf is what a key of docker's file means, which may be the URL of an API.
func placeOf(name string) string {
	if _, rest, ok := strings.Cut(name, "://"); ok {
		name = rest
	}
	name = strings.TrimSuffix(name, "/")
	if host, rest, _ := strings.Cut(name, "/"); rest == "v1" || rest == "v2" {
		return host
	}
	return name
}
