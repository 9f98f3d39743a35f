// Package variants holds the policies that can be replayed, one file each. All
// lists them, Parse reads what a user asks for, and Load reads own ones from a
// YAML file.
package variants
