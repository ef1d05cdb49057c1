package local

// MaxEvents is how many changes a feed tells at once.
const MaxEvents = maxEvents
