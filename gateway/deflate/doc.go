// Package deflate owns replies compressed with gzip, made of pieces that are
// compressed once and joined in every reply that contains them: a piece refers
// to nothing before it and ends at a byte, and the checksum of the whole is
// computed from those of the pieces.
//
// It knows bytes only. It must not know what they are, where pieces are kept, or
// HTTP. The catalog keeps pieces with the objects that they are of, and
// gateway/api sends them.
package deflate
