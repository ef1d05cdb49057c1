package authn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrUnknownToken is the reason for refusing a bearer token.
var ErrUnknownToken = errors.New("invalid bearer token")

// Tokens authenticates bearer tokens from a fixed table.
//
// The table is keyed by the SHA-256 of the token. How long a lookup takes then
// depends on a digest that a guesser cannot steer, and the tokens themselves
// are not kept in memory.
type Tokens struct {
	users map[[sha256.Size]byte]*User
}

// NewTokens returns an empty table.
func NewTokens() *Tokens {
	return &Tokens{users: map[[sha256.Size]byte]*User{}}
}

// Add gives a token to a user, who joins [AllAuthenticated]. It must not be
// called any more once the table is in use.
func (t *Tokens) Add(token string, user User) error {
	if token == "" {
		return errors.New("the token is empty")
	}
	key := sha256.Sum256([]byte(token))
	if _, taken := t.users[key]; taken {
		return errors.New("the token was given to a user before")
	}
	user.Groups = withAuthenticated(user.Groups)
	t.users[key] = &user
	return nil
}

// Authenticate implements [Authenticator].
func (t *Tokens) Authenticate(_ context.Context, r Request) (*User, bool, error) {
	if r.BearerToken == "" || r.ForOthers() { // they are for this API
		return nil, false, nil
	}
	user, ok := t.users[sha256.Sum256([]byte(r.BearerToken))]
	if !ok {
		return nil, false, ErrUnknownToken
	}
	return user, true, nil
}

// FollowTokenFile follows a file in kube-apiserver's --token-auth-file format.
// Unlike there, a token that is taken from it counts no longer.
func FollowTokenFile(path string, failed func(error)) (*Following, error) {
	return Follow(path, func(data []byte) (Authenticator, error) {
		t, err := ParseTokens(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("token file %s: %w", path, err)
		}
		return t, nil
	}, failed, nil)
}

// ParseTokens reads CSV records of token, user name, user uid and, optionally,
// one quoted column of comma-separated groups. Where kube-apiserver only warns
// (an empty token, a token that occurs twice) it is an error here, because
// either is a mistake that locks out or lets in the wrong person. Errors name
// the line and never the token.
func ParseTokens(r io.Reader) (*Tokens, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1
	t := NewTokens()
	for {
		record, err := in.Read()
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return nil, err // csv's errors name the line
		}
		line, _ := in.FieldPos(0)
		user, err := tokenUser(record)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if err := t.Add(record[0], user); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

func tokenUser(record []string) (User, error) {
	if len(record) < 3 {
		return User{}, fmt.Errorf("want at least 3 columns (token, user name, user uid), found %d", len(record))
	}
	if record[1] == "" {
		return User{}, errors.New("the user name is empty")
	}
	user := User{Name: record[1], UID: record[2]}
	if len(record) == 3 {
		return user, nil
	}
	if len(record) > 4 {
		return User{}, fmt.Errorf("want at most 4 columns, found %d; several groups go into one column in quotes: \"group1,group2\"", len(record))
	}
	for group := range strings.SplitSeq(record[3], ",") {
		if group = strings.TrimSpace(group); group != "" {
			user.Groups = append(user.Groups, group)
		}
	}
	return user, nil
}
