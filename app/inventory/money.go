package inventory

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// unit is the number of stored parts in one.
const unit = 10_000

// maxDec4 is the largest stored number: 99,999,999,999.9999.
const maxDec4 = 999_999_999_999_999

// Dec4 is a number with at most four decimals, kept as parts of ten thousand.
type Dec4 int64

var numberPattern = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)

// ParseDec4 reads a JSON number exactly. It refuses more than four decimals and numbers beyond the bounds.
func ParseDec4(s string) (Dec4, bool) {
	if len(s) > 64 || !numberPattern.MatchString(s) {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0, false
	}
	r.Mul(r, big.NewRat(unit, 1))
	if !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	n := r.Num().Int64()
	if n > maxDec4 || n < -maxDec4 {
		return 0, false
	}
	return Dec4(n), true
}

// String gives the number without needless zeros.
func (d Dec4) String() string {
	s := decimal(int64(d))
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// MarshalJSON gives a JSON number.
func (d Dec4) MarshalJSON() ([]byte, error) { return []byte(d.String()), nil }

// decimal writes all four decimals.
func decimal(n int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	frac := strconv.FormatInt(n%unit+unit, 10)[1:]
	return sign + strconv.FormatInt(n/unit, 10) + "." + frac
}

// Money is an amount in a currency.
type Money struct {
	// Parts are ten-thousandths.
	Parts    int64
	Currency string
}

var (
	amountPattern   = regexp.MustCompile(`^-?[0-9]{1,12}(\.[0-9]{1,4})?$`)
	currencyPattern = regexp.MustCompile(`^[A-Z]{3}$`)
)

// ParseMoney reads the two strings of an amount.
func ParseMoney(amount, currency string) (Money, bool) {
	if !amountPattern.MatchString(amount) || !currencyPattern.MatchString(currency) {
		return Money{}, false
	}
	whole, frac, _ := strings.Cut(strings.TrimPrefix(amount, "-"), ".")
	parts, err := strconv.ParseInt(whole+(frac + "0000")[:4], 10, 64)
	if err != nil {
		return Money{}, false
	}
	if strings.HasPrefix(amount, "-") {
		parts = -parts
	}
	return Money{Parts: parts, Currency: currency}, true
}

// Amount gives the number as it is sent: none, two or up to four decimals.
func (m Money) Amount() string {
	s := strings.TrimRight(decimal(m.Parts), "0")
	whole, frac, _ := strings.Cut(s, ".")
	switch len(frac) {
	case 0:
		return whole
	case 1:
		return s + "0"
	default:
		return s
	}
}

// MarshalJSON gives {"amount","currency"}.
func (m Money) MarshalJSON() ([]byte, error) {
	return json.Marshal(MoneyInput{Amount: m.Amount(), Currency: m.Currency})
}
