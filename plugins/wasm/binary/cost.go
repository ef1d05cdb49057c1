package binary

// cost adds up what a function will cost the compiler, whose work is not in
// proportion to the bytes: it is quadratic in the blocks, and in the blocks
// and locals together. The factors are measured with wazero 1.12, and rounded
// up, on a machine with two cores at 2 GHz; the unit is about a microsecond
// there.
type cost struct {
	// blocks is the number of blocks, loops and branches.
	blocks int
	// targets is the number of targets of branch tables.
	targets int
	// calls is the number of calls and of the values that they take and give.
	calls int
	// carried is the number of values that blocks and branches take along.
	carried int
	// loops is how deep loops are nested now.
	loops int
}

// meteredBlocks is how many blocks the branch and the call are like that
// metering puts into a loop and before a bulk instruction.
const meteredBlocks = 3

// total is the cost of a function with a number of locals.
func (c *cost) total(bytes, locals int) int {
	return bytes/2 + c.blocks*c.blocks/32 + c.blocks*locals*2 + c.targets*20 + c.calls + c.carried*4
}

// bound fails when a function has gone over a limit of its own.
func (c *cost) bound(r *reader, locals int) {
	r.within("blocks and branches", c.blocks, MaxBlocks)
	if pairs := c.blocks * locals; pairs > MaxBlockLocals {
		r.fail(OverLimit, "%d blocks and branches times %d locals, more than the limit of %d", c.blocks, locals, MaxBlockLocals)
	}
	r.within("targets of branch tables", c.targets, MaxTargets)
	r.within("calls and values of calls", c.calls, MaxCalls)
	r.within("values of branches", c.carried, MaxCarried)
	r.within("loops inside of each other", c.loops, MaxLoopNesting)
}
