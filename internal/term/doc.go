// Package term holds what every text report needs: the one layer that makes
// text from a log safe to show, numbers with their units, bars, charts and
// tables that fit a width. Widths are display columns, never bytes or runes.
package term
