package binary

// The limits of a module. They are far above what compilers emit, and low
// enough that no module within them costs more than it should: the comments say
// what each one bounds. Where none is given, it is the memory of the runtime
// for each of them.
//
// What is said of compiling was measured with wazero 1.12.
const (
	// MaxSize is the size of a module in bytes.
	MaxSize = 64 << 20
	// MaxTypes is the number of function types.
	MaxTypes = 50_000
	// MaxParams is the number of parameters, and of results, of one type.
	MaxParams = 1_000
	// MaxTypeValues is the number of parameters and results of all types;
	// compiling takes 2 microseconds and 100 bytes of memory for each, even when a
	// type is used nowhere.
	MaxTypeValues = 200_000
	// MaxImports is the number of imports.
	MaxImports = 10_000
	// MaxFunctions is the number of functions, imported ones included.
	MaxFunctions = 200_000
	// MaxTables is the number of tables.
	MaxTables = 16
	// MaxTableEntries is how many entries all tables together start with. An
	// entry takes 8 bytes in every instance.
	MaxTableEntries = 1 << 20
	// MaxMemoryPages is the most that a memory may start with.
	MaxMemoryPages = 1 << 16
	// MaxGlobals is the number of globals.
	MaxGlobals = 10_000
	// MaxExports is the number of exports.
	MaxExports = 10_000
	// MaxElementSegments is the number of element segments.
	MaxElementSegments = 10_000
	// MaxElements is the number of entries in all element segments.
	MaxElements = 1 << 20
	// MaxDataSegments is the number of data segments.
	MaxDataSegments = 100_000
	// MaxName is the length of a name in bytes.
	MaxName = 4 << 10

	// MaxCode is the size of all function bodies in bytes.
	MaxCode = 32 << 20
	// MaxBody is the size of one function body in bytes.
	MaxBody = 2 << 20
	// MaxLocals is the number of locals of one function, parameters included.
	// A group of any number of locals takes two bytes in the module.
	MaxLocals = 50_000
	// MaxNesting is how deep blocks may be nested in a function. Go nests one
	// for every place where a function can be resumed; some compilers recurse.
	MaxNesting = 15_000
	// MaxLoopNesting is how deep loops may be nested in a function; compiling
	// takes time in proportion to more than its third power.
	MaxLoopNesting = 100
	// MaxBlocks is the number of blocks, loops and branches of a function;
	// compiling takes time in proportion to its square. A loop and an
	// instruction that is [Opcode.Bulk] count as four, since metering adds to
	// them.
	MaxBlocks = 15_000
	// MaxBlockLocals is that number times the number of locals; compiling may
	// take 500 bytes of memory for each.
	MaxBlockLocals = 1_000_000
	// MaxTargets is the number of targets of all branch tables of a function;
	// compiling takes 2 KiB of memory for each.
	MaxTargets = 50_000
	// MaxCalls is the number of calls in a function and of all values that
	// they take and give; compiling takes 1 KiB of memory for each.
	MaxCalls = 500_000
	// MaxCarried is the number of values that all blocks and branches of a
	// function take along.
	MaxCarried = 1_000_000
	// MaxCost is what compiling all functions may cost together, in
	// microseconds or so at the worst; a Go program of 30 MB costs 42 million.
	MaxCost = 100_000_000
)
