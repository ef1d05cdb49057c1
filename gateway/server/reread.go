package server

// reread logs that a file of credentials was read again, or could not be.
func (g *gateway) reread(flag string, err error) {
	if err != nil {
		g.log.Error().Err(err).Str("component", "identity").Msgf("the file of %s cannot be read again: what it said before still counts", flag)
		return
	}
	g.log.Info().Str("component", "identity").Msgf("the file of %s has changed and counts as it is now", flag)
}

// late logs which issuers of tokens have not told their keys yet.
func (g *gateway) late(err error) {
	log := g.log.With().Str("component", "identity").Logger()
	if err != nil {
		log.Warn().Err(err).Msg("tokens of an issuer are refused until it tells its keys")
		return
	}
	log.Info().Msg("all issuers of tokens have told their keys")
}
