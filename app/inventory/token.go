package inventory

import "unicode"

const (
	maxToken      = 64
	maxQueryWords = 16
)

// Word is one word of a query: a token that must occur, whole or as the beginning of a longer one.
type Word struct {
	Text   string
	Prefix bool
}

// run is a stretch of letters, marks and numbers. Scripts written without spaces form runs of their own.
type run struct {
	signs []rune
	dense bool
}

// split cuts folded text into runs.
func split(folded string) []run {
	var runs []run
	var cur run
	flush := func() {
		if len(cur.signs) > 0 {
			runs = append(runs, cur)
		}
		cur = run{}
	}
	for _, r := range folded {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r) {
			flush()
			continue
		}
		// A mark without a script of its own goes with what it stands on.
		dense := isDense(r) || cur.dense && unicode.Is(unicode.Inherited, r)
		if len(cur.signs) > 0 && dense != cur.dense {
			flush()
		}
		cur.dense = dense
		cur.signs = append(cur.signs, r)
	}
	flush()
	return runs
}

// isDense reports signs of scripts written without spaces between words, and Hangul, whose words carry endings.
func isDense(r rune) bool {
	return r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// indexTokens gives the tokens under which a text is found.
func indexTokens(text string) []string {
	var out []string
	for _, r := range split(Fold(text)) {
		if r.dense {
			out = append(out, signsAndPairs(r.signs)...)
		} else {
			out = append(out, wholeAndPieces(r.signs)...)
		}
	}
	return out
}

func signsAndPairs(signs []rune) []string {
	var out []string
	for i := range signs {
		out = append(out, string(signs[i]))
		if i+1 < len(signs) {
			out = append(out, string(signs[i:i+2]))
		}
	}
	return out
}

// wholeAndPieces gives gsr12v, gsr, 12v, 12 and v for gsr12v.
func wholeAndPieces(signs []rune) []string {
	cuts := []int{0}
	for i := 1; i < len(signs); i++ {
		if unicode.IsNumber(signs[i]) != unicode.IsNumber(signs[i-1]) {
			cuts = append(cuts, i)
		}
	}
	var out []string
	for i, from := range cuts {
		out = append(out, cutToken(signs[from:]))
		if i+1 < len(cuts) {
			out = append(out, cutToken(signs[from:cuts[i+1]]))
		}
	}
	return out
}

func cutToken(signs []rune) string { return string(signs[:min(len(signs), maxToken)]) }

// queryWords gives the words of a query, at most sixteen different ones.
func queryWords(query string) []Word {
	var out []Word
	seen := map[Word]bool{}
	add := func(w Word) {
		if !seen[w] && len(out) < maxQueryWords {
			seen[w] = true
			out = append(out, w)
		}
	}
	for _, r := range split(Fold(query)) {
		switch {
		case !r.dense:
			add(Word{Text: cutToken(r.signs), Prefix: true})
		case len(r.signs) == 1:
			add(Word{Text: string(r.signs)})
		default:
			for i := range len(r.signs) - 1 {
				add(Word{Text: string(r.signs[i : i+2])})
			}
		}
	}
	return out
}
