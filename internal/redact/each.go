package redact

// Each replaces the secrets in the strings, in place. What one of them tells to be a
// secret is replaced in all of them. Nil ones are passed over.
func Each(texts []*string) error {
	r, err := New()
	if err != nil {
		return err
	}
	for _, text := range texts {
		if text != nil {
			r.Learn(*text)
		}
	}
	for _, text := range texts {
		if text != nil {
			*text = r.Text(*text)
		}
	}
	return nil
}
