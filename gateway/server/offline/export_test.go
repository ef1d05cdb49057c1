package offline

// Producers is producers, of any bytes.
func Producers(module []byte) []string {
	if len(module) < 8 {
		return nil
	}
	return producers(module)
}
