package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// getCommand is one run of `wasmgate module get`.
type getCommand struct {
	client clientFlags
	digest string
	out    io.Writer
}

func newModuleGet() *cobra.Command {
	g := &getCommand{}
	cmd := &cobra.Command{
		Use:   "get NAME [FILE.wasm]",
		Short: "Download the content of a module",
		Long: "Download the content of a module into a file, or to the standard output if the file is\n" +
			"- or missing. This is the content in use or, if there is none, the content that spec\n" +
			"asks for. --digest chooses other content of the module. The bytes are compared with\n" +
			"their digest.",
		Example: "  wasmgate module get crontab crontab.wasm\n" +
			"  wasmgate module get crontab - | sha256sum",
		Args:              arguments(1, 2),
		ValidArgsFunction: g.client.completeModuleAndFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			g.out = cmd.OutOrStdout()
			file := append(args, "-")[1]
			if isOutput(file, g.out) {
				file = "-"
			}
			if f, ok := g.out.(*os.File); file == "-" && ok && term.IsTerminal(int(f.Fd())) {
				return fmt.Errorf("the content of a module is not for a terminal; name a file: wasmgate module get %s FILE.wasm", args[0])
			}
			return g.client.run(cmd, func(ctx context.Context, cfg *rest.Config) error { return g.run(ctx, cfg, args[0], file) })
		},
	}
	g.client.add(cmd, 5*time.Minute)
	cmd.Flags().StringVar(&g.digest, "digest", "", "`digest` of the content, or its beginning; see: wasmgate module history NAME")
	return cmd
}

func (g *getCommand) run(ctx context.Context, cfg *rest.Config, name, file string) error {
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return err
	}
	obj, err := client.Resource(modules).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return noModule(name, err)
	}
	digest, err := contentDigest(obj, g.digest)
	if err != nil {
		return fmt.Errorf("wasmmodule/%s: %w", name, err)
	}
	content, err := download(ctx, cfg, name, digest)
	if err != nil {
		return err
	}
	if file == "-" {
		_, err = g.out.Write(content)
		return err
	}
	if err := writeFile(file, content); err != nil {
		return err
	}
	_, err = fmt.Fprintf(g.out, "wasmmodule/%s written to %s: %s, %d bytes\n", name, file, digest, len(content))
	return err
}

// contentDigest finds the content that is meant: what serves, or else what should,
// or the one whose digest begins with prefix.
func contentDigest(obj *unstructured.Unstructured, prefix string) (string, error) {
	s := statusOf(obj)
	all := []string{serving(obj), chosen(obj), s.Digest, s.candidateDigest()}
	for _, r := range s.Revisions {
		all = append(all, r.Digest)
	}
	return chooseDigest(all, prefix, "it has no content yet", "it has no content whose digest")
}

// chooseDigest is the first of some digests, "" among them for none, that begins with
// prefix, which only one may if it is not empty. The errors begin with none and with
// noSuch.
func chooseDigest(all []string, prefix, none, noSuch string) (string, error) {
	prefix = strings.TrimPrefix(prefix, digestPrefix)
	var found []string
	for _, digest := range all {
		if digest != "" && strings.HasPrefix(strings.TrimPrefix(digest, digestPrefix), prefix) && !slices.Contains(found, digest) {
			found = append(found, digest)
		}
	}
	switch {
	case len(found) == 0 && prefix == "":
		return "", errors.New(none)
	case len(found) == 0:
		return "", fmt.Errorf("%s begins with %q", noSuch, prefix)
	case len(found) > 1 && prefix != "":
		return "", fmt.Errorf("the digests of %d contents begin with %q", len(found), prefix)
	}
	return found[0], nil
}

// digestPrefix begins digests.
const digestPrefix = "sha256:"

// digestOf is the digest of content.
func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return digestPrefix + hex.EncodeToString(sum[:])
}

// download fetches the content of a module that has the digest, and verifies it.
func download(ctx context.Context, cfg *rest.Config, name, digest string) ([]byte, error) {
	client, err := modulesClient(cfg)
	if err != nil {
		return nil, err
	}
	content, err := answer(name, client.Get().Resource(modules.Resource).Name(name).SubResource("content").Param("digest", digest).
		SetHeader("Accept", "application/wasm, application/json;q=0.9").Do(ctx))
	if err != nil {
		return nil, err
	}
	if got := digestOf(content); got != digest {
		return nil, failure{fmt.Errorf("wasmmodule/%s: %d bytes with the digest %s arrived, not %s; try again", name, len(content), got, digest)}
	}
	return content, nil
}
