package encryption

// Families are how the names of the metrics begin that the library counts of
// encryption.
var Families = []string{
	"apiserver_encryption_config_controller_", "apiserver_envelope_encryption_", "apiserver_storage_transformation_",
	"apiserver_storage_envelope_transformation_", "apiserver_storage_data_key_generation_",
}
