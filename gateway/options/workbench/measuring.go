package workbench

import (
	"context"
	"time"
)

// Measuring finds out how a module behaves.
type Measuring interface {
	// Bench measures what conversions take.
	Bench(ctx context.Context, what Bench) (Measured, error)
	// Answer asks a hook of a module about a request.
	Answer(ctx context.Context, what Request) (Answer, error)
	// Compare finds out where two modules convert otherwise.
	Compare(ctx context.Context, what Comparison) (Compared, error)
}

// Corpus are objects of one kind.
type Corpus struct {
	// Definitions is as in a Proof.
	Definitions []byte
	// Objects are JSON; without any, so many of each version are Made from the schemas.
	Objects [][]byte
	Made    int
}

// Bench is what is to be measured.
type Bench struct {
	Module
	Corpus
	// Batches are how many objects go together, and Time is how long each is measured.
	Batches []int
	Time    time.Duration
}

// Measured is what was measured.
type Measured struct {
	// Size is that of the module, and Load how long it took to be compiled and started.
	Size int           `json:"size"`
	Load time.Duration `json:"loadNanoseconds"`
	Rows []Row         `json:"rows"`
	// Problems are what could not be converted.
	Problems []string `json:"problems,omitempty"`
}

// Row is what one pair of versions takes.
type Row struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Batch int    `json:"batch"`
	// Bytes is the size of an object on average.
	Bytes int `json:"bytes"`
	// Batches took Took in the middle of Rounds, which is PerObject for each object.
	Took      time.Duration `json:"tookNanoseconds"`
	PerObject time.Duration `json:"perObjectNanoseconds"`
	Rounds    int           `json:"rounds"`
	// Fuel is what an object costs, and Memory how much the module had at most; 0 for
	// rules, which have neither.
	Fuel   int64 `json:"fuelPerObject"`
	Memory int64 `json:"memoryBytes"`
}

// Request is a request to a hook.
type Request struct {
	Module
	// Review is the request as JSON.
	Review []byte
	// Objects are those that the module may look up, as JSON.
	Objects [][]byte
}

// Answer is what a module answered.
type Answer struct {
	Hook string `json:"hook"`
	// Reply is what it answered, as JSON; Problem is why it did not.
	Reply   string `json:"reply,omitempty"`
	Problem string `json:"problem,omitempty"`
	// Stack is where in the module that was, a line for each function; "" if the runtime
	// does not tell.
	Stack string `json:"stack,omitempty"`
	// Refused is what it says against the request; "" if it lets it through.
	Refused string   `json:"refused,omitempty"`
	Log     []string `json:"log,omitempty"`
	// Fuel, Memory and Took are what it cost.
	Fuel   int64         `json:"fuel"`
	Memory int64         `json:"memoryBytes"`
	Took   time.Duration `json:"tookNanoseconds"`
}

// Comparison are two modules, and what they are to convert.
type Comparison struct {
	A, B Module
	Corpus
}

// Compared is where two modules differ.
type Compared struct {
	// Conversions is how many both were asked for, and Same how many came out the same.
	Conversions int `json:"conversions"`
	Same        int `json:"same"`
	// Neither is how many neither made, and Said what the first said of the first such.
	Neither int            `json:"neither,omitempty"`
	Said    string         `json:"said,omitempty"`
	Places  []ComparedPath `json:"places,omitempty"`
}

// ComparedPath is a field that comes out otherwise, with how often that happens.
type ComparedPath struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Field string `json:"field"`
	Count int    `json:"count"`
	// A and B are its values in the first such object, as JSON, or what was said;
	// Object is that object.
	A      string `json:"a,omitempty"`
	B      string `json:"b,omitempty"`
	Object string `json:"object"`
}
