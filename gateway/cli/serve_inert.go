package cli

import (
	"github.com/spf13/pflag"

	"github.com/wasmgate/wasmgate/gateway/options"
)

// inertFlags are those of kube-apiserver's that do nothing here. They are in the usage by
// their names alone.
func inertFlags(o *options.Serve) flagGroup {
	f := newGroup("Accepted for kube-apiserver's sake, without effect here")
	for i := range options.Inerts {
		inert := &options.Inerts[i]
		flag := f.VarPF(&inertValue{Inert: inert, set: &o.InertSet}, inert.Name, "", inert.Why)
		if inert.Type == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
	return f
}

// inertValue is what such a flag was set to.
type inertValue struct {
	*options.Inert
	set  *[]string
	text string
}

var _ pflag.Value = &inertValue{}

// String implements [pflag.Value].
func (v *inertValue) String() string { return v.text }

// Set implements [pflag.Value].
func (v *inertValue) Set(text string) error {
	if err := v.Check(text); err != nil {
		return err
	}
	if v.text == "" {
		*v.set = append(*v.set, v.Name)
	}
	v.text = text
	return nil
}

// Type implements [pflag.Value].
func (v *inertValue) Type() string {
	if v.Inert.Type == "text" {
		return "string"
	}
	return v.Inert.Type
}
