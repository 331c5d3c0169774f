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
