package templates

import (
	"slices"

	"github.com/a-h/templ"
)

var shell = ShellView{Title: "Connections", Person: "Ada Lovelace", Current: NavConnections, SignOutToken: "token-signout", LanguageToken: "token-language", Here: "/settings/connections"}

func titled(title, current string) ShellView {
	s := shell
	s.Title, s.Current = title, current
	return s
}

func at(text string) TimeView {
	return TimeView{ISO: "2026-03-02T09:30:00Z", Full: "2 March 2026, 09:30 UTC", Text: text}
}

func atp(text string) *TimeView {
	t := at(text)
	return &t
}

var (
	readChoice  = ChoiceView{Value: "home:read", Title: "See your things", Detail: "Read and search the inventory: things, places, dates and notes.", Ticked: true}
	writeChoice = ChoiceView{Value: "home:write", Title: "Change your things", Detail: "Add, edit and move things and places. Includes seeing them. Nothing can be deleted."}
	homeChoice  = ChoiceView{Value: "0195-home", Title: "Home", Detail: "You are an owner here.", Ticked: true}
	shopChoice  = ChoiceView{Value: "0195-shop", Title: "Workshop", Detail: "You are a viewer here: nothing can be changed."}
	expiries    = []ChoiceView{{Value: "forever", Title: "Until I end it", Ticked: true}, {Value: "30d", Title: "30 days"}, {Value: "1d", Title: "1 day"}}
)

func marked(c ChoiceView, mark string, fresh bool) ChoiceView {
	c.Mark, c.Fresh = mark, fresh
	return c
}

var newConsent = ConsentView{
	Shell: titled("Allow Claude Code?", ""), Action: "/authorize/abc/decision", Token: "token-consent",
	App: AppView{Name: "Claude Code"}, RedirectHost: "localhost", ThisComputer: true,
	Resource: "Gatehouse (https://home.example/mcp)", PersonName: "Ada Lovelace", PersonEmail: "ada@example.org",
	SwitchToken: "token-signout", RequestID: "abc", Scopes: []ChoiceView{readChoice, writeChoice}, Located: true,
	Locations: []ChoiceView{homeChoice, shopChoice}, Expiries: expiries,
}

var againConsent = ConsentView{
	Shell: titled("Allow Claude?", ""), Action: "/authorize/abc/decision", Token: "token-consent",
	App: AppView{Name: "Claude", Host: "claude.ai"}, RedirectHost: "claude.com", OtherHost: true,
	Resource: "Gatehouse (https://home.example/mcp)", PersonName: "Ada Lovelace", PersonEmail: "ada@example.org",
	SwitchToken: "token-signout", RequestID: "abc", Located: true,
	Scopes:    []ChoiceView{marked(readChoice, "has it now", false), marked(writeChoice, "new", true)},
	Locations: []ChoiceView{marked(homeChoice, "has it now", false), marked(shopChoice, "new", true)}, Expiries: expiries,
	Existing: &ExistingView{Since: at("3 November 2025"), Scopes: []string{"see your things"}, Locations: []string{"Home"}, Adds: []string{"change your things"},
		Tools: "2 of 10 tools", Limits: []string{"Search things: Only with limit up to 5."}, Expires: atp("1 April 2026"), Drops: []string{"Locations"}},
	Tools: []ChoiceView{{Value: "search_things", Title: "Search things", Detail: "Looks only.", Ticked: true}, {Value: "move_thing", Title: "Move a thing", Detail: "Changes things.", Mark: "new", Fresh: true}}, ToolsOpen: true,
	Problem: "Tick at least one location, or press Deny.",
}

var connections = ConnectionsView{
	Shell: shell,
	Connections: []ConnectionView{
		{
			ID: "c1", App: AppView{Name: "Claude", Host: "claude.ai"}, Resource: "Gatehouse (https://home.example/mcp)",
			Scopes: []string{"see your things", "change your things"}, Located: true, Locations: []string{"Home", "Workshop"}, Tools: "2 of 10 tools", Limits: []string{"Move a thing: Only with quantity up to 5."},
			Created: at("3 November 2025"), LastUsed: atp("4 minutes ago"), LastUse: "for where_is from 160.79.104.10",
			Edit: "/settings/connections/c1", Activity: "/settings/connections/c1/activity", EndAction: "/settings/connections/c1/disconnect", EndToken: "token-end",
			Reused: []ReuseView{{Device: "Claude Code on macOS", At: at("3 days ago")}},
			Installations: []InstallationView{{
				Device: "Claude", FirstSeen: at("3 November 2025"), LastUsed: atp("4 minutes ago"), LastUse: "for where_is from 160.79.104.10",
				EndAction: "/settings/connections/c1/installations/f1/end", EndToken: "token-end-f1",
			}},
		},
		{
			ID: "c2", App: AppView{Name: "Claude Code"}, Resource: "Gatehouse (https://home.example/mcp)", Scopes: []string{"see your things"},
			Located: true, Created: at("2 days ago"), Expires: atp("1 April 2026"), Edit: "/settings/connections/c2", Activity: "/settings/connections/c2/activity",
			EndAction: "/settings/connections/c2/disconnect", EndToken: "token-end",
		},
	},
	Ended: []EndedView{{Name: "Cursor", Ended: at("3 hours ago"), Activity: "/settings/connections/c3/activity"}},
	Tokens: []TokenView{{
		Name: "Backup script", Lookup: "Ab3dE5fG", Scope: "see your things", Locations: []string{"Home"}, Created: at("12 days ago"),
		Activity:  "/settings/connections/tokens/t1/activity",
		EndAction: "/settings/connections/tokens/t1/revoke", EndToken: "token-revoke",
	}},
	NewToken: NewTokenView{
		Token: "token-new", Once: "once-1", Scopes: []ChoiceView{readChoice, writeChoice}, Locations: []ChoiceView{homeChoice, shopChoice}, Expiries: expiries,
	},
}

var connect = ConnectView{
	Shell: titled("Connect an app", NavConnect), URL: "https://home.example/mcp", Refresh: "/settings/connect", Watch: "/settings/connect?watch=1#attempts",
	Guides: []GuideView{
		{App: "Claude", Steps: []GuideStepView{{Text: "Open Settings, then Connectors."}, {Text: "Choose Add custom connector."}, {Text: "Paste the address, press Add, then Connect."}}},
		{App: "Claude Code", Steps: []GuideStepView{
			{Text: "Run this in a terminal.", Snippet: "claude mcp add --transport http gatehouse https://home.example/mcp"}, {Text: "Start claude and type /mcp."}}},
	},
	Attempts: []AttemptView{
		{App: "ChatGPT", Started: at("just now"), State: "failed", Summary: "Did not work", Open: true, Steps: []StepView{
			{Title: "The app read how to sign in here", At: at("just now")},
			{Title: "The app's request was refused", At: at("just now"), Failed: true, Reason: "The redirect_uri is not registered.",
				Advice: "Remove the connector in the app and add it again.", Detail: "chatgpt.com"},
		}},
		{App: "Claude", Started: at("2 hours ago"), State: "done", Summary: "Connected", Steps: []StepView{{Title: "You decided", At: at("2 hours ago"), Detail: "allowed"}}},
		{App: "An app", Started: at("3 hours ago"), State: "going", Summary: "Under way"},
		{App: "Cursor", Started: at("2 days ago"), State: "ended", Summary: "Ended", Steps: []StepView{
			{Title: "The app could not renew its tokens", At: at("1 day ago"), Failed: true, Reason: "The connection behind this token has ended."}}},
	},
}

var account = AccountView{
	Shell: titled("Account", NavAccount), Name: "Ada Lovelace", Email: "ada@example.org", Password: "token-password", OthersToken: "token-others",
	Sessions: []SessionView{
		{Device: "Firefox on Linux", Address: "192.0.2.7", SignedIn: at("2 days ago"), LastSeen: at("just now"), This: true},
		{Device: "Safari on iPhone", Address: "2001:db8::7", SignedIn: at("5 days ago"), LastSeen: at("3 hours ago"),
			EndAction: "/settings/account/sessions/s2/end", EndToken: "token-session"},
	},
}

var created = TokenCreatedView{
	Shell: titled("Your new token", NavConnections), Name: "Backup script", Secret: "gth_Ab3dE5fG_secret", Warning: "Different people share these locations.",
	Settings: []SnippetView{{Title: "Cursor", Where: "Add to ~/.cursor/mcp.json.", Text: "{\n  \"mcpServers\": {}\n}"}},
}

var activity = ActivityView{
	Shell: titled("What Claude did", NavConnections), App: &AppView{Name: "Claude", Host: "claude.ai"},
	All: &UndoAllView{Action: "/settings/connections/c1/activity/undo", Token: "token-undo-all", Choices: []ChoiceView{
		{Value: "hour", Title: "The last hour", Ticked: true}, {Value: "day", Title: "The last 24 hours"}}},
	Entries: []ActivityEntryView{
		{At: at("just now"), Summary: "Changed the name and notes of “Cordless drill”.", Location: "Home", Action: "/settings/connections/c1/activity/e3/undo",
			Token: "token-undo", UndoUntil: atp("9 March 2026"), Changes: []ChangeView{
				{Field: "name", From: "Drill", To: "Cordless drill"}, {Field: "notes", To: "Lent to Bob"}, {Field: "value", Hidden: true}}},
		{At: at("2 hours ago"), Summary: "Moved “Drill”.", Location: "Home", State: "undone 1 hour ago by Ada Lovelace",
			Changes: []ChangeView{{Field: "place", From: "Attic", To: "Garage"}}},
		{At: at("12 days ago"), Summary: "Added “Drill”.", Location: "Workshop", State: "too old to be undone", Folded: true,
			Changes: []ChangeView{{Field: "name", To: "Drill"}, {Field: "quantity", To: "1"}}},
	},
	Older: "/settings/connections/c1/activity?before=50.e1",
}

var thing = ThingView{
	Shell: titled("Cordless drill", ""), Code: "7K3\u2011QM2", Aliases: []string{"Drill", "Screwdriver"}, States: []string{"Place not certain"},
	Facts: []FactView{
		{Label: "Where", Text: "Home › Cellar › Shelf 2"}, {Label: "Quantity", Text: "1"}, {Label: "Brand", Text: "Makita"},
		{Label: "Value", Text: "119.90 EUR"}, {Label: "Last seen", At: atp("4 minutes ago")},
	},
	Tags: []string{"Tools", "Lent often"}, Notes: "Two batteries.\nThe charger is in the drawer.", Custom: []FactView{{Label: "Voltage", Text: "18"}},
}

// sample is a component with ordinary content and the same with hostile text in every field.
type sample struct {
	name    string
	page    templ.Component
	hostile templ.Component
}

func both[V any](name string, component func(V) templ.Component, v V) sample {
	return sample{name: name, page: component(v), hostile: component(poisoned[V]())}
}

// less is both with a part of the hostile view taken away that hides others.
func less[V any](name string, component func(V) templ.Component, v V, change func(*V)) sample {
	hostile := poisoned[V]()
	change(&hostile)
	return sample{name: name, page: component(v), hostile: component(hostile)}
}

func samples() []sample {
	stranger := ShellView{Title: "Sign in"}
	return append([]sample{
		both("signin_confirm", SignIn, SignInView{Shell: titled("Sign in", ""), Token: "token-signin", Return: "/admin/clients", Confirm: true, Email: "ada@example.org"}),
		both("signin", SignIn, SignInView{Shell: stranger, Token: "token-signin", Return: "/settings/connect"}),
		both("signin_ways", SignIn, SignInView{Shell: stranger, Token: "token-signin", Ways: someWays, Forgot: true, SignUp: true}),
		both("signin_request", SignIn, SignInView{Shell: stranger, Token: "token-signin", Request: "abc", App: "Claude Code", Email: "ada@example.org",
			Problem: "The e-mail address or the password is not right."}),
		both("signin_nobody", SignIn, SignInView{Shell: stranger, Token: "token-signin", Nobody: true}),
		both("signin_again", SignIn, SignInView{Shell: shell, Token: "token-signin", Request: "abc", Again: true}),
		both("setup", Setup, SetupView{Shell: ShellView{Title: "Welcome to Gatehouse"}, Token: "token-setup", Link: "link", Location: "Home"}),
		both("reset", Reset, ResetView{Shell: ShellView{Title: "Set a new password"}, Token: "token-reset", Link: "link", Email: "ada@example.org"}),
		less("home", Home, HomeView{Shell: titled("Hello, Ada Lovelace", NavHome), URL: "https://home.example/mcp", Connections: 2, Locations: []string{"Home", "Workshop"}},
			func(v *HomeView) { v.Unavailable = "" }),
		both("home_unavailable", Home, HomeView{Shell: titled("Hello, Ada Lovelace", NavHome), Unavailable: "Apps cannot connect."}),
		less("thing", Thing, thing, func(v *ThingView) { v.Facts = append(v.Facts, FactView{Label: poison, Text: poison}) }),
		both("thing_bare", Thing, ThingView{Shell: titled("Lamp", ""), Code: "7K3\u2011QM2", Facts: []FactView{{Label: "Where", Text: "Home › Unplaced"}, {Label: "Quantity", Text: "1"}}}),
		both("consent", Consent, newConsent),
		both("consent_again", Consent, againConsent),
		both("consent_changed", Consent, changedConsent()),
		both("decided", Decided, DecidedView{Shell: titled("You have already decided", ""), Allowed: true}),
		both("leave", Leave, LeaveView{Shell: titled("You denied this", ""), Host: "localhost", URL: "http://localhost:7780/callback?error=access_denied", Denied: true}),
		both("error", Error, ErrorView{Shell: titled("This app is not known here", ""), What: "Nothing was connected.",
			Cause:  "The app uses a registration that this server does not have.",
			Advice: []string{"In Claude or ChatGPT: remove the connector, then add it again."}, Code: "invalid_client", Detail: "The client is unknown.",
			Correlation: "0195c1a2"}),
		less("connections", Connections, connections, func(v *ConnectionsView) { v.NewToken.Unavailable = "" }),
		both("connections_empty", Connections, ConnectionsView{Shell: shell, NewToken: NewTokenView{Unavailable: "Personal tokens need an https address."}}),
		both("connection_edit", ConnectionEdit, ConnectionEditView{Shell: titled("Claude", NavConnections), App: AppView{Name: "Claude", Trusted: true},
			Action: "/settings/connections/c1", Token: "token-edit", Scopes: []ChoiceView{readChoice, writeChoice}, Located: true, Locations: []ChoiceView{homeChoice, shopChoice}, Expiries: expiries,
			Tools: []ChoiceView{{Value: "move_thing", Title: "Move a thing", Detail: "Changes things.", Ticked: true}}, LimitMaximum: true, LimitValue: "five",
			Limits: []ChoiceView{{Value: "search_things limit", Title: "Search things", Detail: "Only with limit up to 5.", Ticked: true}}, LimitTargets: []OptionView{{Value: "move_thing quantity", Label: "Move a thing: quantity", Chosen: true}}, Problem: "Write the values of the limit."}),
		both("activity", Activity, activity),
		both("activity_result", Activity, ActivityView{Shell: titled("What Claude did", NavConnections), Ended: true,
			Problem: "Not undone. Moved “Drill”. It was undone already.", Newer: "/settings/connections/c1/activity",
			Result: &UndoResultView{Summary: "Undone: 3 changes.", Refused: []RefusedView{{What: "Moved “Drill”.", Why: "The place was changed since by Ada. Undo the later change first."}}}}),
		both("token_created", TokenCreated, created),
		less("connect", Connect, connect, func(v *ConnectView) { v.Unavailable = "" }),
		both("connect_unavailable", Connect, ConnectView{Shell: titled("Connect an app", NavConnect), Unavailable: "Apps cannot connect.",
			Refresh: "/settings/connect", Watch: "/settings/connect?watch=1#attempts"}),
		both("account", Account, account),
	}, slices.Concat(adminSamples(), moreAdminSamples(), peopleSamples(), factorSamples(), grantSamples())...)
}

// changedConsent is the consent page for a document whose words changed, of a host that nobody knows.
func changedConsent() ConsentView {
	v := againConsent
	v.NewHost, v.Logo, v.Changed, v.ChangedSince = true, "/authorize/req-1/logo", []string{"its name", "where answers go"}, at("3 days ago")
	return v
}
