package web

// adminRoutes lists the pages of the administration. They answer 404 to everybody but administrators.
func (h *Handlers) adminRoutes() []Route {
	return []Route{
		{Page, adminPath, h.AdminOverview, nil},
		{Page, adminOncePath, h.AdminOnce, nil},
		{Page, adminPeoplePath, h.AdminPeople, nil},
		{Page, newPersonPath, h.NewPerson, h.AddPerson},
		{Page, adminPeoplePath + "/:person", h.AdminPerson, nil},
		{Page, adminPeoplePath + "/:person/disable", h.SeePerson, h.DisablePerson},
		{Page, adminPeoplePath + "/:person/enable", h.SeePerson, h.EnablePerson},
		{Page, adminPeoplePath + "/:person/promote", h.SeePerson, h.PromotePerson},
		{Page, adminPeoplePath + "/:person/demote", h.SeePerson, h.DemotePerson},
		{Page, adminPeoplePath + "/:person/reset-link", h.SeePerson, h.MakeResetLink},
		{Page, adminClientsPath, h.AdminClients, nil},
		{Page, newClientPath, h.NewClient, h.AddClient},
		{Page, adminClientsPath + "/client", h.AdminClient, nil},
		{Page, adminClientsPath + "/block", h.SeeClient, h.BlockClient},
		{Page, adminClientsPath + "/unblock", h.SeeClient, h.UnblockClient},
		{Page, adminClientsPath + "/delete", h.SeeClient, h.DeleteClient},
		{Page, adminConnectionsPath, h.AdminConnections, nil},
		{Page, adminConnectionsPath + "/:connection", h.AdminConnection, nil},
		{Page, adminConnectionsPath + "/:connection/end", h.SeeAdminConnection, h.EndAnyConnection},
		{Page, adminConnectionsPath + "/:connection/installations/:installation/end", h.SeeAdminConnection, h.EndAnyInstallation},
		{Page, adminAttemptsPath, h.AdminAttempts, nil},
		{Page, adminAttemptsPath + "/:attempt", h.AdminAttempt, nil},
		{Page, adminKeysPath, h.AdminKeys, nil},
		{Page, adminKeysPath + "/rotate", seeAdmin(adminKeysPath), h.RotateKeys},
		{Page, adminKeysPath + "/:kid/drop", seeAdmin(adminKeysPath), h.DropKey},
		{Page, adminAuditPath, h.AdminAudit, nil},
		{Page, adminIssuersPath, h.AdminIssuers, h.AddIssuer},
		{Page, adminIssuersPath + "/remove", seeAdmin(adminIssuersPath), h.RemoveIssuer},
	}
}
