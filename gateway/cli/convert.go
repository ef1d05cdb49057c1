package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// convertCommand is one run of `wasmgate convert`.
type convertCommand struct {
	tools      workbench.Tools
	module     moduleFile
	what       workbench.Conversion
	file       string
	moduleFile string
	crdFile    string
	format     output
}

func newConvert(tools workbench.Tools) *cobra.Command {
	c := &convertCommand{tools: tools}
	cmd := &cobra.Command{
		Use:   "convert -f FILE --to-version VERSION --module FILE.wasm",
		Short: "Convert an object in a file to another version, without a server",
		Long: "Convert the object of a file, YAML or JSON, to another version of its kind with a\n" +
			"module, and print it. With --crd the fields that the version does not have are\n" +
			"dropped, as a gateway does. No server is needed.",
		Example:     "  wasmgate convert -f crontab.yaml --to-version v1 --module crontab.wasm --crd crd.yaml",
		Args:        arguments(0, 0),
		Annotations: map[string]string{mistakesAre: ""},
		RunE:        c.run,
	}
	cmd.Flags().StringVarP(&c.file, "filename", "f", "", "`file` with the object, YAML or JSON; - is the standard input")
	cmd.Flags().StringVar(&c.what.To, "to-version", "", "`version` to convert to, such as v1")
	cmd.Flags().StringVar(&c.moduleFile, "module", "", "`file` with the module that converts")
	cmd.Flags().StringVar(&c.crdFile, "crd", "", "`file` with the CustomResourceDefinition, YAML or JSON")
	c.module.add(cmd)
	c.format.add(cmd, asYAML, asJSON)
	return cmd
}

func (c *convertCommand) run(cmd *cobra.Command, _ []string) (err error) {
	if err := fromEnv(cmd.Flags()); err != nil {
		return err
	}
	if c.file == "" || c.what.To == "" || c.moduleFile == "" {
		return fmt.Errorf("-f, --to-version and --module are needed\nUsage: %s", cmd.UseLine())
	}
	if c.what.Object, err = oneObject(c.file, cmd.InOrStdin()); err != nil {
		return err
	}
	if c.what.Module, err = c.module.read(c.moduleFile); err != nil {
		return err
	}
	if c.crdFile != "" {
		if c.what.Definitions, err = os.ReadFile(c.crdFile); err != nil {
			return err
		}
	}
	converted, err := c.tools.Convert(cmd.Context(), c.what)
	if err != nil {
		return err
	}
	if c.format.format != asJSON {
		if converted, err = yaml.JSONToYAML(converted); err != nil {
			return err
		}
	} else {
		converted = append(converted, '\n')
	}
	_, err = cmd.OutOrStdout().Write(converted)
	return err
}

// oneObject reads the only object of a file, as JSON.
func oneObject(file string, in io.Reader) (data []byte, err error) {
	if file == "-" {
		data, err = io.ReadAll(in)
	} else {
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, err
	}
	object, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return object, nil
}
