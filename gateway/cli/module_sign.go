package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// signFlags are a module, who signs it, and whom the signature is for.
type signFlags struct {
	key, module string
	bundle      string // a file
	identity    identityFlags
}

func (f *signFlags) add(cmd *cobra.Command, key string) {
	cmd.Flags().StringVar(&f.key, "key", "", "PEM `file` with the "+key)
	cmd.Flags().StringVar(&f.module, "for", "", "`name` of the only WasmModule for which the signature is valid")
}

func (f *signFlags) read(cmd *cobra.Command, file string) (out workbench.Signed, err error) {
	if err := fromEnv(cmd.Flags()); err != nil {
		return out, err
	}
	if err := f.check(cmd); err != nil {
		return out, mistake{fmt.Errorf("%w\nUsage: %s", err, cmd.UseLine())}
	}
	out.For = f.module
	if out.Content, err = named(file); err != nil {
		return out, err
	}
	switch {
	case f.bundle != "":
		out.Bundle, err = named(f.bundle)
	case f.key != "":
		out.Password = passwordOf(cmd, f.key)
		out.Key, err = named(f.key)
	default:
		out.Identity, err = f.identity.read()
	}
	return out, err
}

// check tells which flags are missing, or do not go together.
func (f *signFlags) check(cmd *cobra.Command) error {
	who := f.identity.given()
	switch signs := cmd.Flags().Lookup("bundle") != nil; {
	case f.key == "" && f.bundle == "" && !who && signs:
		return errors.New("--key is missing: the file with the key; or --bundle, with a bundle of Sigstore")
	case f.key == "" && f.bundle == "" && !who:
		return errors.New("--key is missing: the file with the key; or --issuer and --subject")
	case f.key != "" && f.bundle != "":
		return errors.New("give either --key or --bundle, not both")
	case f.key != "" && who:
		return errors.New("give either --key, or --issuer and --subject, not both")
	case f.bundle != "" && f.module != "":
		return errors.New("--for is of no use with --bundle, which is made already")
	case who:
		return f.identity.check()
	}
	return nil
}

// wrong names the file that an error is about: that of the key or that of the module.
func (f *signFlags) wrong(file string, err error) error {
	if key := (workbench.KeyError{}); errors.As(err, &key) {
		if f.key == "" {
			return mistake{key.Err}
		}
		file, err = f.key, key.Err
	}
	return mistake{fmt.Errorf("%s: %w", file, err)}
}

func newModuleSign(tools workbench.Signing) *cobra.Command {
	var flags signFlags
	var output string
	cmd := &cobra.Command{
		Use:   "sign FILE.wasm --key KEY | --bundle BUNDLE",
		Short: "Sign a module, in the file itself",
		Long: "Sign a module with a private key: PEM, ECDSA P-256, Ed25519 or RSA. It may be encrypted as\n" +
			"cosign does; the password is in COSIGN_PASSWORD, or is asked for on a terminal.\n" +
			"The signature goes into the section wasmgate.signature at the end of the file and covers\n" +
			"all bytes before it. An earlier signature by the same key is replaced; signatures by\n" +
			"other keys stay. No server is needed.\n\n" +
			"With --bundle the section gets a bundle of Sigstore instead, version 0.3: one that\n" +
			"\"cosign sign-blob --bundle\" made of the unsigned module, with a key or without, or an\n" +
			"attestation of where the module comes from. The bundle is not verified here.",
		Example: "  wasmgate module sign crontab.wasm --key release.key\n  wasmgate module sign crontab.wasm --key release.key --for crontab -o signed.wasm\n" +
			"  wasmgate module sign crontab.wasm --bundle crontab.sigstore.json",
		Args:              arguments(1, 1),
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			what, err := flags.read(cmd, args[0])
			if err != nil {
				return err
			}
			signed, err := tools.Sign(what)
			if err != nil {
				return flags.wrong(args[0], err)
			}
			if output == "" {
				output = args[0]
			}
			if err := writeFile(output, signed); err != nil {
				return err
			}
			if !isOutput(output, cmd.OutOrStdout()) {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s signed: %s\n", output, digestOf(signed))
			}
			return err
		},
	}
	flags.add(cmd, "private key that signs")
	cmd.Flags().StringVar(&flags.bundle, "bundle", "", "JSON `file` with a bundle of Sigstore, instead of --key")
	cmd.Flags().StringVarP(&output, "output", "o", "", "`file` for the signed module (default FILE.wasm itself)")
	return cmd
}

func newModuleVerify(tools workbench.Signing) *cobra.Command {
	var flags signFlags
	var format output
	cmd := &cobra.Command{
		Use:   "verify FILE.wasm --key PUB | --issuer ISSUER --subject SUBJECT",
		Short: "Check who signed a module: a key, or an identity of Sigstore",
		Long: "Check whether the module in a file is signed by the private key that belongs to a\n" +
			"public key (PEM), or by the identity that the certificate in a bundle of Sigstore names.\n" +
			"The roots for that certificate are given by flags. No server is asked.\n\n" +
			"The status is 0 if it is signed, 1 if not, and 2 if the command line is\n" +
			"wrong.",
		Example: "  wasmgate module verify crontab.wasm --key release.pub\n" +
			"  wasmgate module verify crontab.wasm --issuer https://accounts.google.com --subject anna@example.com --trusted-root trusted_root.json",
		Args:              arguments(1, 1),
		ValidArgsFunction: completeFiles,
		Annotations:       map[string]string{mistakesAre: ""},
		RunE: func(cmd *cobra.Command, args []string) error {
			what, err := flags.read(cmd, args[0])
			if err != nil {
				return err
			}
			is, err := tools.Verify(what)
			if err != nil {
				return flags.wrong(args[0], err)
			}
			if format.forPrograms() {
				err = format.value(cmd.OutOrStdout(), is)
			} else if is.Problem == "" {
				who := "the key " + is.Key
				if is.Key == "" {
					who = is.Subject
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is signed by %s: %s\n", args[0], who, is.Signed)
			}
			if err == nil && is.Problem != "" {
				return &outcome{statusFound, args[0] + ": " + is.Problem}
			}
			return err
		},
	}
	flags.add(cmd, "public key that verifies")
	flags.identity.add(cmd)
	format.add(cmd, asJSON, asYAML)
	return cmd
}

func newModuleKeygen(tools workbench.Signing) *cobra.Command {
	var encrypt bool
	cmd := &cobra.Command{
		Use:   "keygen NAME",
		Short: "Make a key pair for signing modules: NAME.key and NAME.pub",
		Long: "Make a key pair for signing modules, ECDSA P-256: NAME.key has the private key, readable\n" +
			"by its owner only, and NAME.pub the public key, for a ModuleTrust. Existing files are\n" +
			"not replaced. No server is needed.\n\n" +
			"With --encrypt the private key is encrypted as cosign does, by the password in\n" +
			"COSIGN_PASSWORD, or one that is typed twice on a terminal.",
		Example: "  wasmgate module keygen release\n  wasmgate module keygen release --encrypt",
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fromEnv(cmd.Flags()); err != nil {
				return err
			}
			var password []byte
			if encrypt {
				var err error
				if password, err = newPassword(cmd, args[0]+".key"); err != nil {
					return err
				}
			}
			private, public, err := tools.NewKey(password)
			if err != nil {
				return err
			}
			if err := create(args[0]+".key", private, 0o600); err != nil {
				return err
			}
			if err := create(args[0]+".pub", public, 0o644); err != nil {
				return errors.Join(err, os.Remove(args[0]+".key"))
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s.key and %s.pub written\n", args[0], args[0])
			return err
		},
	}
	cmd.Flags().BoolVar(&encrypt, "encrypt", false, "encrypt the private key with a password")
	return cmd
}

// create writes a file that is not there yet.
func create(path string, data []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
