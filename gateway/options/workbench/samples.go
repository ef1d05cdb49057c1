package workbench

// Samples are objects to try a module with.
type Samples struct {
	Module
	// Definitions is as in a Proof.
	Definitions []byte
	// Objects are JSON.
	Objects [][]byte
	// Acknowledged are paths of fields whose loss is meant.
	Acknowledged []string
}

// Sample is what became of an object.
type Sample struct {
	// Version is its own; "" for one of another kind than the definition's, of which
	// nothing else is told.
	Version string
	// Problem is why it is no sample, "" if it is one.
	Problem string
	// Made is what it is at each other version.
	Made []Made
	// Losses are what is lost of it on the way there and back.
	Losses []Loss
}

// Made is what a sample is at a version.
type Made struct {
	To string
	Converted
}
