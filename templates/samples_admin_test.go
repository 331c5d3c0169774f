package templates

import "github.com/a-h/templ"

func admin(title, path string) AdminShellView {
	v := AdminShellView{Shell: titled(title, NavAdmin)}
	v.Shell.Administrator = true
	for _, s := range []struct{ label, path string }{{"Overview", "/admin"}, {"People", "/admin/people"}, {"Clients", "/admin/clients"}, {"Audit", "/admin/audit"}} {
		v.Sections = append(v.Sections, SectionView{Label: s.label, Path: templ.SafeURL(s.path), Current: s.path == path})
	}
	return v
}

var auditEntries = []AuditEntryView{
	{At: at("4 minutes ago"), Action: "Client blocked", Who: "ada@example.org", Client: "Claude", Address: "192.0.2.7", Facts: []FactView{{Label: "Connections", Text: "3"}}},
	{At: at("1 hour ago"), Action: "Person disabled", Who: "The command line", Person: "bob@example.org"},
}

func adminSamples() []sample {
	return []sample{
		both("admin_overview", AdminOverview, AdminOverviewView{Admin: admin("Administration", "/admin"),
			Tiles: []AdminTileView{{Path: "/admin/people", Title: "People", Text: "3 people"}}, Latest: auditEntries}),
		both("admin_overview_empty", AdminOverview, AdminOverviewView{Admin: admin("Administration", "/admin")}),
		both("admin_audit", AdminAudit, AuditView{Admin: admin("Audit", "/admin/audit"), Person: "bob@example.org", Filtered: true,
			Actions: []OptionView{{Label: "Everything"}, {Value: "client", Label: "All about clients", Chosen: true}}, Entries: auditEntries, Next: "/admin/audit?before=1"}),
		both("admin_audit_empty", AdminAudit, AuditView{Admin: admin("Audit", "/admin/audit"), Actions: []OptionView{{Label: "Everything", Chosen: true}}}),
	}
}

var adminList = AdminListView{
	Admin: admin("Clients", "/admin/clients"), Lead: "Apps that asked to connect.", Path: "/admin/clients", Filtered: true,
	Links: []LinkView{{Path: "/admin/clients/new", Label: "Enter a client"}},
	Filters: []FilterView{{Name: "q", Label: "Name, host or id", Value: "Claude"},
		{Name: "kind", Label: "How it became known", Options: []OptionView{{Label: "All", Chosen: true}, {Value: "dynamic", Label: "Registered itself"}}},
		{Name: "blocked", Label: "Blocked only", Tick: true, Ticked: true}},
	Rows: []AdminRowView{{Title: "Claude", Link: "/admin/clients/client?id=1", Badges: []BadgeView{{Text: "Registered itself"}, {Text: "Blocked", Tone: "bad"}},
		Facts:   []AdminFactView{{Label: "Connections", Texts: []string{"3 connections"}}, {Label: "Last seen", Time: atp("4 minutes ago")}},
		Buttons: []ButtonView{{Action: "/admin/clients/unblock?id=1", Token: "token-unblock", Label: "Unblock", About: "Claude"}}}},
	Actions: []AdminActionView{{ID: "rotate", Title: "Rotate", Text: "The next key signs from now on.", Button: ButtonView{Action: "/admin/keys/rotate", Token: "token-rotate", Label: "Rotate"}},
		{ID: "drop-k1", Title: "Drop k1", Text: "Tokens stop working.", Confirm: "Yes, drop this key now", Button: ButtonView{Action: "/admin/keys/k1/drop", Token: "token-drop", Label: "Drop", About: "k1", Danger: true}}},
	Newer: "/admin/clients", Older: "/admin/clients?page=3",
}

var adminDetail = AdminDetailView{
	Admin: admin("ChatGPT", "/admin/attempts"), Back: LinkView{Path: "/admin/attempts", Label: "Attempts"}, Badges: []BadgeView{{Text: "Did not work", Tone: "bad"}},
	Facts: []AdminFactView{{Label: "Person", Texts: []string{"ada@example.org"}}, {Label: "From", Texts: []string{"192.0.2.7", "openai-mcp/1.0"}}},
	Links: []LinkView{{Path: "/admin/people/1", Label: "Person"}},
	Steps: []StepView{{Title: "The app's request was refused", At: at("4 minutes ago"), Failed: true, Reason: "The redirect_uri is not registered.", Advice: "Remove the connector."}},
	Sections: []AdminSectionView{{ID: "installations", Title: "Installations", Rows: []AdminRowView{{Title: "Codex on Linux",
		Buttons: []ButtonView{{Action: "/admin/connections/1/installations/2/end", Token: "token-end", Label: "End", About: "Codex on Linux", Danger: true}}}}}},
	Actions: []AdminActionView{{ID: "end", Title: "Disconnect", Text: "The app's next call is refused.", Button: ButtonView{Action: "/admin/connections/1/end", Token: "token-end", Label: "Disconnect", Danger: true}}},
}

var adminForm = AdminFormView{
	Admin: admin("Enter a client", "/admin/clients"), Back: LinkView{Path: "/admin/clients", Label: "Clients"}, Lead: "For an app that you vouch for.",
	Problem: "The redirect URI is not valid.", Action: "/admin/clients/new", Token: "token-new", Submit: "Enter",
	Groups: []FieldGroupView{{Legend: "App", Fields: []FieldView{
		{Name: "name", Label: "Name", Hint: "What people see.", Value: "Robot", Type: "text", Required: true},
		{Name: "redirect_uris", Label: "Redirect URIs", Hint: "One a line.", Value: "https://robot.example/callback", Required: true, Lines: true}}},
		{Legend: "How it proves itself", Fields: []FieldView{{Name: "proof", Choices: []ChoiceView{{Value: "none", Title: "Not at all", Ticked: true}, {Value: "secret", Title: "By a secret"}}},
			{Name: "dpop_bound", Tick: &ChoiceView{Value: "yes", Title: "Its tokens are always bound to its key"}}}}},
}

func moreAdminSamples() []sample {
	return []sample{
		both("admin_list", AdminList, adminList),
		both("admin_list_empty", AdminList, AdminListView{Admin: admin("Clients", "/admin/clients"), Path: "/admin/clients", Empty: "No client is known."}),
		both("admin_detail", AdminDetail, adminDetail),
		both("admin_form", AdminForm, adminForm),
		both("admin_once", AdminOnce, OnceView{Admin: admin("One-time link", "/admin/people"), Back: LinkView{Path: "/admin/people", Label: "People"},
			Text: "Give this link to bob@example.org now. It is not shown again.", Values: []SnippetView{{Title: "Link to set a password", Text: "https://home.example/reset?token=gsr_x", Where: "It works once."}}}),
	}
}
