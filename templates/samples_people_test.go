package templates

var someWays = WaysView{Providers: []ProviderView{{Name: "House of Keys", Action: "/signin/with/keys", Token: "token-keys"}}, Return: "/settings/connect"}

var somePeople = LocationPeopleView{
	Shell: titled("People of Home", NavPeople), Location: "Home", Others: []LinkView{{Label: "Workshop", Path: "/settings/people/0195-shop"}},
	Members: []MemberView{
		{Name: "Ada Lovelace", Role: "Owner", Joined: at("3 November 2025"), This: true, FieldID: "role-0"},
		{Name: "Bob", Role: "Member", Joined: at("2 days ago"), FieldID: "role-1", Options: []OptionView{{Value: "viewer", Label: "Viewer"}, {Value: "member", Label: "Member", Chosen: true}},
			RoleAction: "/settings/people/0195-home/members/u2/role", RemoveAction: "/settings/people/0195-home/members/u2/remove",
			HandAction: "/settings/people/0195-home/members/u2/owner", RoleToken: "token-role", RemoveToken: "token-remove", HandToken: "token-hand"},
	},
	Manage: true, InviteAction: "/settings/people/0195-home/invite", InviteToken: "token-invite",
	Roles: []ChoiceView{{Value: "viewer", Title: "Viewer", Detail: "Can look, and change nothing."}, {Value: "member", Title: "Member", Detail: "Can change things and places.", Ticked: true}},
	Invitations: []InvitationView{{For: "eve@example.org", Role: "Viewer", Inviter: "Ada Lovelace", Expires: at("9 March 2026"),
		Action: "/settings/people/0195-home/invitations/i1/revoke", Token: "token-back"}},
}

func made(v LocationPeopleView) LocationPeopleView {
	v.Made, v.MadeFor = "https://home.example/invite?token=gsi_x", "eve@example.org"
	return v
}

var someInvite = InviteView{
	Shell: titled("Come into Home", ""), Inviter: "Ada Lovelace", Location: "Home", Role: "Member: Can change things and places.",
	Expires: at("9 March 2026"), Link: "gsi_x", SignIn: "/signin?return=%2Finvite", Ways: someWays,
	New: NewPersonView{Token: "token-new", Action: "/invite", Link: "gsi_x"},
}

func joining(v InviteView) InviteView {
	v.Person, v.JoinToken, v.SwitchToken = "Bob", "token-join", "token-signout"
	return v
}

// peopleSamples are the pages of who comes in and who goes.
func peopleSamples() []sample {
	return []sample{
		both("location_people", LocationPeople, somePeople),
		both("location_people_made", LocationPeople, made(somePeople)),
		less("invite_new", Invite, someInvite, func(v *InviteView) { v.Person = "" }),
		both("invite_known", Invite, joining(someInvite)),
		both("ask_email", AskEmail, AskEmailView{Shell: titled("Make an account", ""), Token: "token-signup", Action: "/signup", Lead: "You get a letter with a link.",
			Label: "Your e-mail address", Button: "Send me a link", Ways: someWays, Back: "/signin"}),
		both("sent", Sent, SentView{Shell: titled("Look into your mailbox", ""), Text: "A letter is on its way.", Hint: "It works once."}),
		both("new_person", NewPerson, NewPersonView{Shell: titled("Make your account", ""), Token: "token-new", Action: "/signup/confirm", Link: "gsn_x", Fixed: "ada@example.org",
			AskLocation: true, Location: "Home"}),
		both("confirm", Confirm, ConfirmView{Shell: titled("Is this your address?", ""), Action: "/email", Token: "token-email", Link: "gse_x",
			Lines: []string{"From now on you would sign in with ada@example.com."}, Button: "Yes, use this address"}),
		both("identities", Identities, IdentitiesView{Shell: titled("Sign in with an account elsewhere", NavAccount), Ways: someWays, Identities: []IdentityView{{
			Name: "House of Keys", Email: "ada@keys.example", Linked: at("2 days ago"), LastUsed: atp("4 minutes ago"), Action: "/settings/account/identities/i1/unlink", Token: "token-unlink"}}}),
		both("delete_account", DeleteAccount, DeletionView{Shell: titled("Delete the account", NavAccount), Token: "token-delete", Wait: "7 days", Alone: []string{"Home"}}),
		both("delete_account_kept", DeleteAccount, DeletionView{Shell: titled("Delete the account", NavAccount), Wait: "7 days", Shared: []string{"Workshop"}, LastAdmin: true}),
		both("admin_address", AdminAddress, AdminAddressView{Admin: AdminShellView{Shell: titled("E-mail addresses", NavAdmin)}, Token: "token-address"}),
		both("admin_providers", AdminProviders, ProvidersView{Admin: AdminShellView{Shell: titled("Providers", NavAdmin)}, Token: "token-add", SignUpMode: "Sign-up policy: closed. New people come by invitation alone.",
			Providers: []ProviderRowView{{Name: "House of Keys", Issuer: "https://keys.example", ClientID: "gatehouse", Domains: "keys.example", Callback: "https://home.example/signin/with/keys/callback",
				SignUp: true, Added: at("2 days ago"), Action: "/admin/providers/keys/remove", Token: "token-remove"}}}),
	}
}
