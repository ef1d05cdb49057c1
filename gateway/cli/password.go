package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// passwordVariable is where cosign looks for the password of a key.
const passwordVariable = "COSIGN_PASSWORD"

// passwordOf returns what finds the password of a key: in the environment, or by asking on
// the terminal.
func passwordOf(cmd *cobra.Command, key string) func() ([]byte, error) {
	return func() ([]byte, error) {
		if word, set := os.LookupEnv(passwordVariable); set {
			return []byte(word), nil
		}
		return ask(cmd, "Password of "+key+": ")
	}
}

// newPassword is one that is chosen: what is typed on a terminal is typed twice.
func newPassword(cmd *cobra.Command, key string) ([]byte, error) {
	word, err := passwordOf(cmd, key)()
	if _, set := os.LookupEnv(passwordVariable); set || err != nil {
		return word, err
	}
	if len(word) == 0 {
		return nil, mistake{errors.New("the password is empty")}
	}
	again, err := ask(cmd, "The same again: ")
	if err == nil && !bytes.Equal(word, again) {
		err = mistake{errors.New("the passwords are not the same")}
	}
	return word, err
}

// ask asks for a line that the terminal does not show.
func ask(cmd *cobra.Command, what string) ([]byte, error) {
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil, mistake{fmt.Errorf("it needs a password: set %s, or call this on a terminal", passwordVariable)}
	}
	if _, err := io.WriteString(cmd.ErrOrStderr(), what); err != nil {
		return nil, err
	}
	word, err := term.ReadPassword(int(in.Fd()))
	_, _ = io.WriteString(cmd.ErrOrStderr(), "\n")
	return word, err
}
