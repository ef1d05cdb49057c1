// Package flow owns which requests wait for others: API Priority and Fairness, as
// FlowSchemas and PriorityLevelConfigurations describe it. A request is of one flow
// of one schema; each level has seats, and where they do not suffice its flows take
// turns. Seats that one level does not need are lent to others.
//
// It must not know where the objects come from, nor how a request is answered. Why
// it is not the library's: RATIONALE.md, "Why is flow control not k8s.io/apiserver's?".
package flow
