package web

// adminRoutes lists the pages of the administration. They answer 404 to everybody but administrators.
func (h *Handlers) adminRoutes() []Route {
	return []Route{
		{Page, adminPath, h.AdminOverview, nil},
		{Page, adminAuditPath, h.AdminAudit, nil},
	}
}
