package workbench

import "context"

// Authoring begins what others go on with.
type Authoring interface {
	// Draft makes the files of a project that converts one version of a kind to
	// another.
	Draft(ctx context.Context, what Draft) (Drafted, error)
	// Record makes samples of objects that people have.
	Record(ctx context.Context, what Recording) (Recorded, error)
	// Languages are those that a project can be in.
	Languages() []string
}

// Draft is what a project is to be about.
type Draft struct {
	// Name is that of the module, or of the rules; "" for the plural of the kind.
	Name     string
	Language string
	// From is the text of a file with a CustomResourceDefinition, and To that of one
	// with its new version; without To, From has all versions. Without either, the
	// project is about an example.
	From, To []byte
	// SDK is a folder with a checkout of the SDK; "" for the published one.
	SDK string
}

// Drafted is a project.
type Drafted struct {
	Name       string `json:"name"`
	Definition string `json:"definition"`
	// Operations are what was guessed.
	Operations []Operation `json:"operations"`
	// Files are the files, by names with slashes.
	Files []File `json:"-"`
}

// Operation is what a conversion does to a field, or has to.
type Operation struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Field is what it is about.
	Field string `json:"field"`
	// Rule is the operation as JSON, as in ConversionRules; "" if there is none.
	Rule string `json:"rule,omitempty"`
	// Check tells that somebody has to look at it.
	Check        bool     `json:"check"`
	Why          string   `json:"why"`
	Alternatives []string `json:"alternatives,omitempty"`
}

// File is a file of a project.
type File struct {
	Name    string
	Content []byte
}

// Recording are objects to make samples of.
type Recording struct {
	// Definitions is as in a Proof.
	Definitions []byte
	// Version is the one that the objects, which are JSON, are at.
	Version string
	Objects [][]byte
	// Most is how many samples are made.
	Most int
}

// Recorded are samples: a few that have much of what the objects have, with other
// values.
type Recorded struct {
	Definition string `json:"definition"`
	Version    string `json:"version"`
	// Objects is how many were looked at, and Refused how many of them would have been
	// samples and could not be made into valid ones.
	Objects int `json:"objects"`
	Refused int `json:"refused,omitempty"`
	// Reached is the number of fields that the samples have, of all Fields of the schema.
	Reached int `json:"reached"`
	Fields  int `json:"fields"`
	// Files are the samples.
	Files []File `json:"-"`
	// Names are those of the files.
	Names []string `json:"files"`
}
