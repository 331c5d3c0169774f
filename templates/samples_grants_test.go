package templates

func grantSamples() []sample {
	algorithms := []ChoiceView{{Value: "RS256", Title: "RS256", Ticked: true}, {Value: "ES256", Title: "ES256"}}
	may := []ChoiceView{{Value: "home:read", Title: "See your things", Detail: "Read and search the inventory.", Ticked: true},
		{Value: "home:write", Title: "Change your things"}}
	return []sample{
		both("device", DeviceCode, DeviceCodeView{Shell: titled("Connect a device", ""), Token: "token-device", Code: "BCDF-GHJK"}),
		both("device_wrong", DeviceCode, DeviceCodeView{Shell: titled("Connect a device", ""), Token: "token-device",
			Problem: "This code is wrong or has expired. Compare it with the device, or start again there."}),
		both("device_confirm", DeviceConfirm, DeviceConfirmView{Shell: titled("Allow Home screen?", ""), Token: "token-decide", Code: "BCDF-GHJK",
			App: AppView{Name: "Home screen", Trusted: true}, Resource: "Gatehouse (https://home.example/mcp)", Device: "A program on Linux", Address: "192.0.2.7",
			Asked: at("1 minute ago"), PersonName: "Ada Lovelace", PersonEmail: "ada@example.org", SwitchToken: "token-switch", Return: "/device?user_code=BCDF-GHJK",
			Scopes: may, Located: true, Locations: []ChoiceView{{Value: "loc1", Title: "Home", Detail: "You are the owner", Ticked: true}},
			Expiries: []ChoiceView{{Value: "forever", Title: "Until I end it"}, {Value: "30d", Title: "30 days", Ticked: true}}}),
		both("device_done", DeviceDone, DeviceDoneView{Shell: titled("Go back to your device", ""), App: "Home screen", Allowed: true}),
		both("device_denied", DeviceDone, DeviceDoneView{Shell: titled("You denied this", ""), App: "Home screen"}),
		both("admin_issuers", AdminIssuers, AdminIssuersView{Admin: admin("Trusted issuers", "/admin/issuers"), Token: "token-add",
			Issuers: []IssuerView{{Issuer: "https://idp.example", RemoveToken: "token-remove", Facts: []FactView{{Label: "Keys", Text: "https://idp.example/keys"}}}},
			Form:    IssuerFormView{Algorithms: algorithms, Scopes: may, Problem: "A domain looks like example.org."}}),
		both("admin_issuers_empty", AdminIssuers, AdminIssuersView{Admin: admin("Trusted issuers", "/admin/issuers"), Token: "token-add",
			Form: IssuerFormView{Algorithms: algorithms, Scopes: may}}),
	}
}
