// Package quota owns how writes agree with the ResourceQuotas of their
// namespace: a write is checked against the last state of the quotas, and what it
// uses is stored in their status by its own transaction, so that no two writes,
// on whichever gateways, use the same. It also owns the LimitRanges that are in force.
//
// It must not know HTTP, nor what an object uses: that is admission/plugin/resourcequota's. What
// becomes unused is told by gateway/kinds/quota/recount, as much that happens to
// objects is no write.
package quota
