// Package meter owns what running a module is charged: it makes the sections of
// a module that charges itself for the instructions it runs.
//
// It must not know the runtime, the ABI of the gateway's modules, or what a
// call may spend; plugins/wasm calls it, and provides the function that the
// module then imports.
//
// The unit is called fuel, and is about one instruction. A metered module keeps
// what it may still spend in a global, which it exports as [Export]. It
// subtracts from it
//
//   - where a function begins: the instructions of its body that are not inside
//     of a loop, its parameters and its results. When nothing but a loop can
//     follow, as in most functions that Go compiles, this is added to each
//     iteration of that loop instead, which saves a charge;
//   - where an iteration of a loop begins: the instructions inside of the loop,
//     but not inside of another one in it, and its parameters;
//   - before an instruction that works on as much memory as its operand says:
//     for that length;
//   - before a function that was imported: [HostCall].
//
// Filling and copying memory and segments, the longest instructions that there are, are done by
// a megabyte at a time (pieces.go), with a question for more after each.
//
// So nothing runs without end that is not charged without end, and what is
// charged depends on the path through functions and loops alone: the same input
// costs the same. It is the cost of everything that could run until the next
// charge, so it is never less than what does run.
//
// When the global falls below zero, and before every function that was
// imported, the module calls the function [Import] of [Module] with what is
// left, which may be a debt; that returns what may be spent next, or does not
// return.
//
// Beside that a metered module tells what it changes of itself, so that whoever
// runs it can put that back, or knows that it cannot: it exports its globals
// ([Globals]), and notes in one that it changed something else ([Changed]).
//
// A module that somebody tries, and that nobody is served by, can have its branches
// marked besides (branches.go): each makes an entry of a table that the module gets, and
// cannot name, one that is not null. A table costs a few instructions for each mark; a
// global that can change would cost the compiler one more load after every call, and
// memory is the module's own. Marks are not charged.
package meter
