package home_test

import (
	"strings"
	"testing"

	"gatehouse/app/home"
)

// matrix is the table of roles and actions: owner, admin, member, viewer. X full, o one's own, p by policy, m while
// viewers see money.
const matrix = `
content.view           X X X X
audit.values           X X X -
money.view             X X X m
thing.edit             X X X -
place.edit             X X X -
move.edit              X X X -
thing.seen             X X X -
lending.edit           X X X -
schedule.edit          X X X -
claim.edit             X X X -
log.add                X X X -
log.edit_any           X X o -
meter.manage           X X - -
type.manage            X X - -
tag.manage             X X - -
tag.create             X X X -
label.manage           X X X -
attachment.add         X X X -
attachment.remove_own  X X X -
attachment.remove_any  X X - -
content.trash          X X X -
content.purge          X X - -
audit.undo_own         X X X -
audit.undo_any         X X - -
console.use            X X X X
webhook.manage         X X - -
addon.manage           X X - -
transfer.export        X X - -
transfer.import        X X - -
member.manage          X X - -
admin.manage           X - - -
location.settings      X X - -
location.require_2fa   X - - -
location.transfer      X - - -
location.delete        X - - -
secret.policy          X - - -
secret.reveal          X X p -
token.own              X X X X
token.all              X X - -
no.such_action         - - - -
`

func TestRolesAndActions(t *testing.T) {
	t.Parallel()
	grants := map[string]home.Grant{"X": home.GrantFull, "o": home.GrantOwn, "p": home.GrantPolicy, "m": home.GrantMoney, "-": home.GrantNone}
	roles := []home.Role{home.Owner, home.Admin, home.Member, home.Viewer}
	lines := strings.Split(strings.TrimSpace(matrix), "\n")
	if len(lines) != home.ActionCount+1 {
		t.Errorf("the matrix has %d actions, the program %d", len(lines)-1, home.ActionCount)
	}
	for _, line := range lines {
		f := strings.Fields(line)
		action := home.Action(f[0])
		for i, role := range roles {
			want := grants[f[i+1]]
			if got := home.GrantOf(role, action); got != want {
				t.Errorf("KE-152 %s %s: grant %v, want %v", role, action, got, want)
			}
			for _, money := range []bool{false, true} {
				a := &home.Access{Role: role, ViewerSeesMoney: money}
				can := want == home.GrantFull || want == home.GrantMoney && money
				if home.Can(a, action) != can {
					t.Errorf("KE-63 KE-152 %s %s, viewers see money %v: can is %v", role, action, money, !can)
				}
				if own := can || want == home.GrantOwn; home.CanOwn(a, action) != own {
					t.Errorf("%s %s of one's own: can is %v", role, action, !own)
				}
			}
		}
		if home.Can(nil, action) || home.CanOwn(nil, action) || home.GrantOf("", action) != home.GrantNone || home.GrantOf("root", action) != home.GrantNone {
			t.Errorf("%s: nobody may", action)
		}
	}
	for _, r := range roles {
		if !r.Valid() || r.MayWrite() != (r != home.Viewer) {
			t.Errorf("KE-106 role %s", r)
		}
	}
	if home.Role("").Valid() || home.Role("").MayWrite() || home.Role("root").MayWrite() {
		t.Error("a role that is none may write")
	}
}
