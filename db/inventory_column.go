package db

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"
)

// dateColumn is a {date} column: a calendar day as text. Postgres hands dates out as times.
type dateColumn string

// Scan reads either form.
func (c *dateColumn) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*c = ""
	case string:
		*c = dateColumn(v)
	case []byte:
		*c = dateColumn(v)
	case time.Time:
		*c = dateColumn(v.Format(time.DateOnly))
	default:
		return fmt.Errorf("scan date: unexpected %T", v)
	}
	return nil
}

// Value gives NULL for no day.
func (c dateColumn) Value() (driver.Value, error) {
	if c == "" {
		return nil, nil
	}
	return string(c), nil
}

// jsonText is a {json} column; nil is NULL.
type jsonText []byte

// Value gives the text.
func (j jsonText) Value() (driver.Value, error) {
	if j == nil {
		return nil, nil
	}
	return string(j), nil
}

// Scan copies the text.
func (j *jsonText) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*j = nil
	case string:
		*j = jsonText(v)
	case []byte:
		*j = jsonText(bytes.Clone(v))
	default:
		return fmt.Errorf("scan json: unexpected %T", v)
	}
	return nil
}

// customText and customOf keep custom values. Numbers keep their digits.
func customText(values map[string]any) (jsonText, error) {
	if values == nil {
		return jsonText("{}"), nil
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("encode custom fields: %w", err)
	}
	return text, nil
}

func customOf(text jsonText) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	values := map[string]any{}
	if err := dec.Decode(&values); err != nil {
		return nil, fmt.Errorf("decode custom fields: %w", err)
	}
	return values, nil
}
