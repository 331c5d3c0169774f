package home

// Role is a person's place in a location.
type Role string

// The roles, from most to least.
const (
	Owner  Role = "owner"
	Admin  Role = "admin"
	Member Role = "member"
	Viewer Role = "viewer"
)

// Valid reports whether r is one of the four roles.
func (r Role) Valid() bool { return r == Owner || r == Admin || r == Member || r == Viewer }

// MayWrite reports whether the role is above viewer: only then may a token or connection write.
func (r Role) MayWrite() bool { return r == Owner || r == Admin || r == Member }

// Action is something a role may grant.
type Action string

// The actions.
const (
	ContentView         Action = "content.view"
	AuditValues         Action = "audit.values"
	MoneyView           Action = "money.view"
	ThingEdit           Action = "thing.edit"
	PlaceEdit           Action = "place.edit"
	MoveEdit            Action = "move.edit"
	ThingSeen           Action = "thing.seen"
	LendingEdit         Action = "lending.edit"
	ScheduleEdit        Action = "schedule.edit"
	ClaimEdit           Action = "claim.edit"
	LogAdd              Action = "log.add"
	LogEditAny          Action = "log.edit_any"
	MeterManage         Action = "meter.manage"
	TypeManage          Action = "type.manage"
	TagManage           Action = "tag.manage"
	TagCreate           Action = "tag.create"
	LabelManage         Action = "label.manage"
	AttachmentAdd       Action = "attachment.add"
	AttachmentRemoveOwn Action = "attachment.remove_own"
	AttachmentRemoveAny Action = "attachment.remove_any"
	ContentTrash        Action = "content.trash"
	ContentPurge        Action = "content.purge"
	AuditUndoOwn        Action = "audit.undo_own"
	AuditUndoAny        Action = "audit.undo_any"
	ConsoleUse          Action = "console.use"
	WebhookManage       Action = "webhook.manage"
	AddonManage         Action = "addon.manage"
	TransferExport      Action = "transfer.export"
	TransferImport      Action = "transfer.import"
	MemberManage        Action = "member.manage"
	AdminManage         Action = "admin.manage"
	LocationSettings    Action = "location.settings"
	LocationRequire2FA  Action = "location.require_2fa"
	LocationTransfer    Action = "location.transfer"
	LocationDelete      Action = "location.delete"
	SecretPolicy        Action = "secret.policy"
	SecretReveal        Action = "secret.reveal"
	TokenOwn            Action = "token.own"
	TokenAll            Action = "token.all"
)

// Grant is how far a role grants an action.
type Grant int

// The grants.
const (
	// GrantNone: not at all.
	GrantNone Grant = iota
	// GrantMoney: while the location lets viewers see money.
	GrantMoney
	// GrantOwn: on what the person made.
	GrantOwn
	// GrantPolicy: where the object's own policy adds the role.
	GrantPolicy
	// GrantFull: without condition.
	GrantFull
)

// rights is who may do an action, in the order owner, admin, member, viewer.
type rights [4]Grant

var (
	everybody    = rights{GrantFull, GrantFull, GrantFull, GrantFull}
	aboveViewer  = rights{GrantFull, GrantFull, GrantFull, GrantNone}
	ownerOrAdmin = rights{GrantFull, GrantFull, GrantNone, GrantNone}
	ownerOnly    = rights{GrantFull, GrantNone, GrantNone, GrantNone}
)

// table is every action with who may do it.
var table = map[Action]rights{
	ContentView: everybody,
	AuditValues: aboveViewer,
	MoneyView:   {GrantFull, GrantFull, GrantFull, GrantMoney},

	ThingEdit: aboveViewer, PlaceEdit: aboveViewer, MoveEdit: aboveViewer, ThingSeen: aboveViewer,
	LendingEdit: aboveViewer, ScheduleEdit: aboveViewer, ClaimEdit: aboveViewer,
	LogAdd:      aboveViewer,
	LogEditAny:  {GrantFull, GrantFull, GrantOwn, GrantNone},
	MeterManage: ownerOrAdmin, TypeManage: ownerOrAdmin, TagManage: ownerOrAdmin,
	TagCreate: aboveViewer, LabelManage: aboveViewer,

	AttachmentAdd: aboveViewer, AttachmentRemoveOwn: aboveViewer, AttachmentRemoveAny: ownerOrAdmin,
	ContentTrash: aboveViewer, ContentPurge: ownerOrAdmin,
	AuditUndoOwn: aboveViewer, AuditUndoAny: ownerOrAdmin,
	ConsoleUse:    everybody,
	WebhookManage: ownerOrAdmin, AddonManage: ownerOrAdmin, TransferExport: ownerOrAdmin, TransferImport: ownerOrAdmin,

	MemberManage: ownerOrAdmin, AdminManage: ownerOnly,
	LocationSettings:   ownerOrAdmin,
	LocationRequire2FA: ownerOnly, LocationTransfer: ownerOnly, LocationDelete: ownerOnly, SecretPolicy: ownerOnly,
	SecretReveal: {GrantFull, GrantFull, GrantPolicy, GrantNone},
	TokenOwn:     everybody,
	TokenAll:     ownerOrAdmin,
}

// GrantOf is how far the role grants the action. What is not in the table nobody may do.
func GrantOf(role Role, action Action) Grant {
	r := table[action]
	switch role {
	case Owner:
		return r[0]
	case Admin:
		return r[1]
	case Member:
		return r[2]
	case Viewer:
		return r[3]
	}
	return GrantNone
}

// Can reports whether the standing allows the action without further condition. A nil standing allows nothing.
func Can(a *Access, action Action) bool {
	if a == nil {
		return false
	}
	g := GrantOf(a.Role, action)
	return g == GrantFull || g == GrantMoney && a.ViewerSeesMoney
}

// CanOwn reports whether the standing allows the action on something the person made.
func CanOwn(a *Access, action Action) bool {
	return Can(a, action) || a != nil && GrantOf(a.Role, action) == GrantOwn
}
