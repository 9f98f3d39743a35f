package formats

// All is the formats fclog reads.
func All() List { return List{} }
