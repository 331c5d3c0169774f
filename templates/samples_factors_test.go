package templates

// factorSamples are the pages about how somebody signs in.
func factorSamples() []sample {
	stranger := ShellView{Title: "One more step"}
	line := PasskeyLineView{Name: "Laptop", Added: at("3 November 2025"), LastUsed: atp("2 days ago"), Rename: "/settings/account/factors/passkeys/p1/rename",
		RenameID: "name-p1", RenameToken: "token-rename", Remove: "/settings/account/factors/passkeys/p1/remove", RemoveToken: "token-remove"}
	copied := line
	copied.Name, copied.Synced, copied.WentBack, copied.RenameID = "Phone", true, atp("an hour ago"), "name-p2"
	return []sample{
		both("second_factor", SecondFactor, SecondFactorView{Shell: stranger, Token: "token-second", PasskeyToken: "token-signin", Email: "ada@example.org",
			Request: "abc", Passkeys: true, Problem: "This code is not right, or it was used before. Wait for the next one."}),
		both("signin_passkey", SignIn, SignInView{Shell: ShellView{Title: "Sign in"}, Token: "token-signin", Passkeys: true}),
		both("reset_lost", Reset, ResetView{Shell: ShellView{Title: "Set a new password"}, Token: "token-reset", Link: "link", Email: "ada@example.org", Lost: true, Second: true}),
		both("passkey_sign_in", Passkey, PasskeyView{Shell: ShellView{Title: "Sign in with a passkey"}, Token: "token-passkey", Lead: "Your browser asks for your passkey now.",
			Action: "/signin/passkey/finish", Options: `{"challenge":"AAAA","rpId":"home.example"}`, Ceremony: "gpc_x", Hidden: []HiddenView{{"return", "/settings/connect"}}, Back: "/signin"}),
		both("passkey_add", Passkey, PasskeyView{Shell: titled("Add a passkey", NavAccount), Token: "token-passkey", Lead: "Your browser asks now where to keep the passkey.",
			Action: "/settings/account/factors/passkeys/finish", Create: true, Options: `{"challenge":"AAAA"}`, Ceremony: "gpc_x", Back: "/settings/account/factors"}),
		less("factors", Factors, FactorsView{Shell: titled("How you sign in", NavAccount), Email: "ada@example.org", Password: true, MayDrop: true, DropToken: "token-drop",
			Passkeys: []PasskeyLineView{line, copied}, AddToken: "token-add", Codes: atp("3 November 2025"), ShortPassword: true, CodesToken: "token-codes", RecoveryLeft: 2, RecoveryToken: "token-recovery"},
			func(v *FactorsView) { v.NoPasskeys = "" }),
		less("factors_none", Factors, FactorsView{Shell: titled("How you sign in", NavAccount), Email: "ada@example.org", SetToken: "token-set", CodesToken: "token-codes",
			NoPasskeys: "Browsers allow passkeys only at a host name with https."}, func(v *FactorsView) { v.Password, v.Codes = false, nil }),
		both("enrol", Enrol, EnrolView{Shell: titled("Set up an authenticator app", NavAccount), Token: "token-confirm", Secret: "JBSW Y3DP EHPK 3PXP", QR: "M4 4h7v1h-7z", QRSize: "29"}),
		both("recovery_codes", RecoveryCodes, RecoveryCodesView{Shell: titled("Your recovery codes", NavAccount), Codes: []string{"abcd-efgh-ijkl-mnop", "qrst-uvwx-yz23-4567"},
			Download: "data:text/plain;charset=utf-8,abcd", Fresh: true}),
	}
}
