// Package workbench owns what can be done with a module and without a server, in
// terms that the command line and whoever does it share: proving that conversions
// lose nothing, looking into a module, converting objects.
//
// It must not know how any of it is done (gateway/server/offline).
package workbench

import (
	"context"
	"time"
)

// Tools are what can be done. An error is a mistake in what was given.
type Tools interface {
	// Prove looks for what the conversions of a module lose.
	Prove(ctx context.Context, what Proof) (Findings, error)
	// Inspect looks into a module.
	Inspect(ctx context.Context, m Module) (Inspection, error)
	// Convert converts objects to a version of their kind, and tells of each.
	Convert(ctx context.Context, what Conversion) ([]Converted, error)
	// Try converts samples to each other version of their kind, and tells of each.
	Try(ctx context.Context, what Samples) ([]Sample, error)
	Authoring
	Measuring
	Signing
	Pulling
}

// Module is a module.
type Module struct {
	// Name is used in messages.
	Name string
	// Content are its bytes.
	Content []byte
	// Config is the JSON that it is configured with; empty for none.
	Config []byte
	// Limits are those of its calls; zeros are the default ones.
	Limits Limits
}

// Limits are those of the calls of a module, as the gateway has them.
type Limits struct {
	MemoryBytes   int64         `json:"memoryBytes"`
	Timeout       time.Duration `json:"timeoutNanoseconds"`
	ResponseBytes int64         `json:"responseBytes"`
	Fuel          int64         `json:"fuel"`
}

// Proof is what is to be proved.
type Proof struct {
	Module
	// Webhook is what converts in the place of a module; nil for none.
	Webhook *Webhook
	// Definitions is the text of a file, YAML or JSON, with a
	// CustomResourceDefinition in it.
	Definitions []byte
	// Pairs are those of versions to look at, as FROM:TO; none means all.
	Pairs []string
	// Budget and Objects bound the work; Seed says which objects are tried.
	Budget  time.Duration
	Objects int
	Seed    uint64
	// Acknowledged are paths of fields whose loss is meant.
	Acknowledged []string
}

// Webhook is a conversion webhook of somebody.
type Webhook struct {
	// URL is where it is, CA the PEM certificates that it is trusted by, none for the
	// system's.
	URL string
	CA  []byte
	// PerSecond is how often it may be asked in a second.
	PerSecond int
}

// Findings are what became of a proof.
type Findings struct {
	// Definition is the name of the definition.
	Definition string `json:"definition"`
	// Lossless is True, False or Unknown; Why says why it is unknown.
	Lossless string `json:"lossless"`
	Why      string `json:"why,omitempty"`
	// Losses are the fields that are lost.
	Losses []Loss `json:"losses,omitempty"`
	// Tried is the number of objects that were converted, and Reached the number of
	// fields that they had, of all Fields.
	Tried   int    `json:"tried"`
	Reached int    `json:"reached"`
	Fields  int    `json:"fields"`
	Seed    uint64 `json:"seed"`
	// Branches is how much of the module's code was run; nil where nobody knows.
	Branches *Coverage `json:"branches,omitempty"`
}

// Coverage is how much of a module's code was run.
type Coverage struct {
	// Taken are the branches that conversions took, of All in the functions that they
	// ran.
	Taken int `json:"taken"`
	All   int `json:"all"`
}

// Loss is a field that is lost.
type Loss struct {
	// From and To are the pair of versions.
	From string `json:"from"`
	To   string `json:"to"`
	// Problem is what goes wrong, in one word.
	Problem string `json:"problem"`
	// Field is the path of the field, and Place where it is in the example.
	Field string `json:"field"`
	Place string `json:"place,omitempty"`
	// Had and Got are its value before and after, as JSON; "" for none.
	Had string `json:"had,omitempty"`
	Got string `json:"got,omitempty"`
	// Message is what was said about it, if anything was.
	Message string `json:"message,omitempty"`
	// Example is an object that shows it.
	Example string `json:"example"`
}

// Inspection is what a module is.
type Inspection struct {
	// Digest and Size are those of its bytes.
	Digest string `json:"digest"`
	Size   int    `json:"size"`
	// Problem is why it cannot be used; "" when it can.
	Problem string `json:"problem,omitempty"`
	// ABI is how it is called: a number, after whose it is if it is not the gateway's own.
	ABI string `json:"abi,omitempty"`
	// Hooks are what the gateway calls.
	Hooks []string `json:"hooks,omitempty"`
	// Conversions are the pairs of versions that it says it converts, each as
	// KIND:FROM->TO, without the kind if that is any.
	Conversions []string `json:"conversions,omitempty"`
	// Producers are the languages and tools that it says it was made with.
	Producers []string `json:"producers,omitempty"`
	// Exports and Imports are its functions, memories and so on.
	Exports []string `json:"exports,omitempty"`
	Imports []string `json:"imports,omitempty"`
}

// Conversion are objects to convert.
type Conversion struct {
	Module
	// Definitions is as in a Proof; empty means that nothing is known of the kind:
	// objects stay as the module made them.
	Definitions []byte
	// Objects are JSON, and To a version, without a group.
	Objects [][]byte
	To      string
	// By converts in the place of the module, which is then none; nil for the module.
	By ConvertAll
}

// ConvertAll converts objects, JSON, and tells of each, in their order; none of them is a
// list. An error concerns all.
type ConvertAll func(ctx context.Context, objects [][]byte) ([]Converted, error)

// Converted is what became of an object.
type Converted struct {
	// Object is JSON; nil for one of another kind than the definition's, which is to
	// stay as it is.
	Object []byte
	// Problem is why it could not be converted, "" if it could.
	Problem string
}

// KeyError is what is wrong with a key. Who read it knows the file.
type KeyError struct{ Err error }

// Error implements error.
func (e KeyError) Error() string { return "the key: " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e KeyError) Unwrap() error { return e.Err }

// DefinitionError is what is wrong with Definitions. Who read them knows the file.
type DefinitionError struct{ Err error }

// Error implements error.
func (e DefinitionError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e DefinitionError) Unwrap() error { return e.Err }
