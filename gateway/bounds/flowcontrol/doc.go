// Package flowcontrol owns what FlowSchemas and PriorityLevelConfigurations do: those
// that every cluster has are there and kept, a schema whose level is missing says so, and
// all of them are in force for requests as soon as they are written.
//
// It must not know how requests wait (gateway/flow), nor how they are refused.
package flowcontrol
