package account_test

import (
	"testing"

	"gatehouse/app/account"
)

func TestStrengthOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		amr  []string
		want string
	}{
		{"BR-12 a password alone", []string{"pwd"}, account.StrengthSingle},
		{"BR-12 nothing known", nil, account.StrengthSingle},
		{"BR-12 a password and a code", []string{"pwd", "otp"}, account.StrengthMulti},
		{"BR-12 a code alone", []string{"otp"}, account.StrengthSingle},
		{"BR-12 a passkey that verified the person", []string{"swk", "user"}, account.StrengthMulti},
		{"BR-12 a key that verified nobody", []string{"hwk"}, account.StrengthSingle},
		{"BR-12 a password and a key", []string{"pwd", "hwk"}, account.StrengthMulti},
		{"BR-12 said outright", []string{"pwd", "mfa"}, account.StrengthMulti},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := account.StrengthOf(tc.amr); got != tc.want {
				t.Errorf("%v is %s; want %s", tc.amr, got, tc.want)
			}
		})
	}
}
