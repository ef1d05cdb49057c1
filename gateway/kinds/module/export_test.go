package module

// ParseLimits is parseLimits.
var ParseLimits = parseLimits
