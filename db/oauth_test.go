package db_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"gatehouse/app/policy"
	"gatehouse/db"
	"gatehouse/db/dbtest"
	"gatehouse/oauth"
	"gatehouse/oauth/oauthtest"
)

// race runs fn n times at once and gives the errors.
func race(n int, fn func(i int) error) []error {
	errs := make([]error, n)
	var start, done sync.WaitGroup
	start.Add(1)
	for i := range n {
		done.Go(func() {
			start.Wait()
			errs[i] = fn(i)
		})
	}
	start.Done()
	done.Wait()
	return errs
}

func countNil(errs []error) int {
	return len(slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err != nil }))
}

func wantOthers(t *testing.T, errs []error, want error) {
	t.Helper()
	for _, err := range errs {
		if err != nil && !errors.Is(err, want) {
			t.Errorf("a loser got %v, want %v", err, want)
		}
	}
}

func TestRedeemCodeOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		s := seed{t, d}
		processes := []*db.DB{d, dbtest.Again(t, d, clock.Now)}
		user, client, homes := s.home(clock, 2)
		code := s.code(user, client, clock.Now(), homes...)
		var winner atomic.Pointer[oauth.Connection]
		errs := race(20, func(i int) error {
			c, err := processes[i%2].RedeemCode(context.Background(), redemption(t, code, clock.Now()))
			if err == nil {
				winner.Store(c)
			}
			return err
		})
		if n := countNil(errs); n != 1 {
			t.Errorf("OAuth2.1-4.1.2 %d of 20 redemptions won, want 1", n)
		}
		wantOthers(t, errs, oauth.ErrUsed)
		for table, want := range map[string]int{"connections": 1, "families": 1, "refresh_tokens": 1, "connection_locations": 2} {
			if n, err := db.CountForTest(d, `SELECT count(*) FROM `+table); err != nil || n != want {
				t.Errorf("CN-63 %d rows in %s (%v), want %d", n, table, err, want)
			}
		}
		stored, err := d.Code(context.Background(), code)
		if err != nil || stored.UsedAt == nil || stored.FamilyID == "" {
			t.Errorf("the used code reads %+v, %v", stored, err)
		}
		if c := winner.Load(); c == nil || c.UserID != user || c.Resource != testResource || len(c.Scopes) != 2 {
			t.Errorf("the connection is %+v", c)
		}
	})
}

func TestApproveAgainAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		s := seed{t, d}
		processes := []*db.DB{d, dbtest.Again(t, d, clock.Now)}
		user, client, homes := s.home(clock, 3)
		codes := make([][]byte, 8)
		for i := range codes {
			codes[i] = s.code(user, client, clock.Now(), homes[:1+i%3]...)
		}
		ids := make([]string, len(codes))
		errs := race(len(codes), func(i int) error {
			c, err := processes[i%2].RedeemCode(context.Background(), redemption(t, codes[i], clock.Now()))
			if err == nil {
				ids[i] = c.ID
			}
			return err
		})
		if n := countNil(errs); n != len(codes) {
			t.Fatalf("%d of %d different codes were redeemed: %v", n, len(codes), errs)
		}
		if slices.ContainsFunc(ids, func(id string) bool { return id != ids[0] }) {
			t.Errorf("CN-72 one live connection expected, got %v", ids)
		}
		if n, _ := db.CountForTest(d, `SELECT count(*) FROM families`); n != len(codes) {
			t.Errorf("GM-1 %d families, want one for each code", n)
		}
	})
}

func TestRotateOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		s := seed{t, d}
		ctx := context.Background()
		processes := []*db.DB{d, dbtest.Again(t, d, clock.Now)}
		user, client, homes := s.home(clock, 1)
		_, r := s.connect(user, client, clock.Now(), homes...)
		now := clock.Now()
		successors := make([]*oauth.RefreshToken, 10)
		errs := race(len(successors), func(i int) error {
			successors[i] = &oauth.RefreshToken{
				Hash: randomBytes(), FamilyID: r.FamilyID, ParentHash: r.Refresh.Hash, CreatedAt: now, ExpiresAt: now.Add(time.Hour),
			}
			return processes[i%2].RotateRefreshToken(ctx, r.Refresh.Hash, successors[i], []byte{byte(i)}, now)
		})
		if n := countNil(errs); n != 1 {
			t.Fatalf("RT-10 %d of 10 rotations won, want 1", n)
		}
		wantOthers(t, errs, oauth.ErrConflict)
		won := slices.Index(errs, nil)
		l, err := d.Lineage(ctx, r.Refresh.Hash)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(l.Token.SuccessorHash, successors[won].Hash) || !bytes.Equal(l.Token.SuccessorSealed, []byte{byte(won)}) || l.SuccessorUsed {
			t.Errorf("RT-9 the lineage is %+v", l)
		}
		if n, _ := db.CountForTest(d, `SELECT count(*) FROM refresh_tokens`); n != 2 {
			t.Errorf("%d refresh tokens, want the first and its successor", n)
		}
		next := &oauth.RefreshToken{Hash: randomBytes(), FamilyID: r.FamilyID, ParentHash: successors[won].Hash, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
		if err := d.RotateRefreshToken(ctx, successors[won].Hash, next, nil, now); err != nil {
			t.Fatal(err)
		}
		if l, err = d.Lineage(ctx, r.Refresh.Hash); err != nil || !l.SuccessorUsed {
			t.Errorf("RT-9 the successor was used, but the lineage says %v, %v", l.SuccessorUsed, err)
		}
		if err := d.RotateRefreshToken(ctx, randomBytes(), next, nil, now); !errors.Is(err, oauth.ErrNotFound) {
			t.Errorf("an unknown token gives %v", err)
		}
	})
}

func TestRequestKeepsHashOnly(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		now := clock.Now()
		r := &oauth.AuthorizationRequest{ID: "capability", ClientID: "c", CreatedAt: now, ExpiresAt: now.Add(time.Minute),
			Parameters: map[string][]string{"state": {"a\x00b\xff"}, "resource": {"x", "y"}}}
		if err := d.SaveRequest(ctx, r); err != nil {
			t.Fatalf("KY-5 hostile parameters: %v", err)
		}
		n, err := db.CountForTest(d, `SELECT count(*) FROM authorization_requests WHERE id_hash = ?`, oauth.HashSecret(r.ID))
		if err != nil || n != 1 {
			t.Errorf("KY-5 the id is not stored as SHA-256: %d, %v", n, err)
		}
		got, err := d.Request(ctx, "capability")
		if err != nil || !slices.Equal(got.Parameters["resource"], []string{"x", "y"}) || got.DecidedAt != nil {
			t.Errorf("read back %+v, %v", got, err)
		}
		errs := race(10, func(int) error { return d.DecideRequest(ctx, "capability", oauth.OutcomeDenied, now, nil) })
		if n := countNil(errs); n != 1 {
			t.Errorf("%d of 10 decisions won", n)
		}
		wantOthers(t, errs, oauth.ErrUsed)
		if err := d.DecideRequest(ctx, "other", oauth.OutcomeDenied, now, nil); !errors.Is(err, oauth.ErrNotFound) {
			t.Errorf("an unknown request gives %v", err)
		}
	})
}

func TestReapproval(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		s := seed{t, d}
		ctx := context.Background()
		user, client, homes := s.home(clock, 3)
		foreign := s.location("Somebody else's")
		first, r1 := s.connect(user, client, clock.Now(), homes[0], homes[1], foreign, "no id")
		read := func(r oauth.Redemption, id string) []string {
			p, err := d.PrincipalByConnection(ctx, id, r.FamilyID, "j", clock.Now())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range p.Locations {
				got = append(got, l.LocationID)
			}
			return got
		}
		if got := read(r1, first.ID); !slices.Equal(got, homes[:2]) {
			t.Errorf("a location of others is reached: %v", got)
		}
		clock.Advance(time.Hour)
		until := clock.Now().Add(24 * time.Hour)
		terms, _ := json.Marshal(map[string]any{"locations": []string{homes[2]}})
		a := oauth.Approval{UserID: user, ClientID: client, Resource: testResource, Scopes: []string{"home:read"}, Terms: terms, ExpiresAt: &until}
		again, err := d.RedeemCode(ctx, redemption(t, s.approve(a, clock.Now()), clock.Now()))
		if err != nil || again.ID != first.ID || !again.CreatedAt.Equal(first.CreatedAt) {
			t.Fatalf("CN-72 approving again made %+v, %v", again, err)
		}
		if got := read(r1, first.ID); !slices.Equal(got, homes[2:]) {
			t.Errorf("CN-74 the first installation still reaches %v", got)
		}
		p, err := d.PrincipalByConnection(ctx, first.ID, r1.FamilyID, "j", clock.Now())
		if err != nil || p.CanWrite() || len(p.HiddenTools) != 0 {
			t.Errorf("CN-74 scopes did not narrow at once: %+v, %v", p, err)
		}
		clock.Advance(48 * time.Hour)
		third, err := d.RedeemCode(ctx, redemption(t, s.approve(a, clock.Now()), clock.Now()))
		if err != nil || third.ID == first.ID {
			t.Errorf("an expired connection came back to life: %+v, %v", third, err)
		}
		if _, err := d.PrincipalByConnection(ctx, first.ID, r1.FamilyID, "j", clock.Now()); !errors.Is(err, oauth.ErrEnded) {
			t.Errorf("the expired connection's family gives %v", err)
		}
		a.Resource = "https://home.example/c/charts/mcp"
		other, err := d.RedeemCode(ctx, redemption(t, s.approve(a, clock.Now()), clock.Now()))
		if err != nil || other.ID == third.ID {
			t.Errorf("another resource shares the connection: %+v, %v", other, err)
		}
	})
}

func TestRedeemForDisabledPerson(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		s := seed{t, d}
		user, client, homes := s.home(clock, 1)
		code := s.code(user, client, clock.Now(), homes...)
		s.disable(user)
		if _, err := d.RedeemCode(context.Background(), redemption(t, code, clock.Now())); !errors.Is(err, oauth.ErrEnded) {
			t.Errorf("RT-7 a disabled person's code gives %v", err)
		}
		if _, err := d.RedeemCode(context.Background(), redemption(t, randomBytes(), clock.Now())); !errors.Is(err, oauth.ErrNotFound) {
			t.Errorf("an unknown code gives %v", err)
		}
		if n, _ := db.CountForTest(d, `SELECT count(*) FROM connections`); n != 0 {
			t.Errorf("%d connections", n)
		}
	})
}

func TestClients(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		s := seed{t, d}
		ctx := context.Background()
		start := clock.Now()
		user, used, homes := s.home(clock, 1)
		s.connect(user, used, start, homes...)
		s.client("unused", start)
		s.client("blocked", start)
		document := s.client("https://app.example/client.json", start)
		document.Kind, document.Name = oauth.ClientDocument, "App\x00\xff"
		document.Document = &oauth.DocumentState{ETag: `"1"`, Digest: randomBytes(), FetchedAt: start, FreshUntil: start.Add(time.Hour)}
		if err := d.SaveClient(ctx, document); err != nil {
			t.Fatal(err)
		}
		got, err := d.Client(ctx, document.ID)
		if err != nil || got.Document == nil || got.Document.ETag != `"1"` || !got.Document.FreshUntil.Equal(start.Add(time.Hour)) {
			t.Errorf("read back %+v, %v", got, err)
		}
		if err := d.SetClientBlocked(ctx, "blocked", &start); err != nil {
			t.Fatal(err)
		}
		s.client("blocked", start.Add(time.Hour)) // a snapshot saved meanwhile
		if got, err := d.Client(ctx, "blocked"); err != nil || got.BlockedAt == nil || !got.CreatedAt.Equal(start) {
			t.Errorf("CI-14 saving lifted the block: %+v, %v", got, err)
		}
		for _, id := range []string{"a\x00b", "a\xff", "nobody"} {
			if _, err := d.Client(ctx, id); !errors.Is(err, oauth.ErrNotFound) {
				t.Errorf("client %q gives %v", id, err)
			}
		}
		n, err := d.DeleteUnusedClients(ctx, start.Add(time.Second))
		if err != nil || n != 2 {
			t.Errorf("deleted %d clients (%v), want the unused one and the document", n, err)
		}
		if has, err := d.ClientHasConnection(ctx, used); err != nil || !has {
			t.Errorf("the used client has no connection: %v", err)
		}
		if n, err := d.CountClients(ctx, oauth.ClientDynamic); err != nil || n != 2 {
			t.Errorf("%d dynamic clients left (%v)", n, err)
		}
	})
}

func TestChangeKeysUnderLock(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		ctx := context.Background()
		processes := []*db.DB{d, dbtest.Again(t, d, clock.Now)}
		var made atomic.Int32
		errs := race(8, func(i int) error {
			return processes[i%2].ChangeKeys(ctx, func(keys []oauth.SigningKey) ([]oauth.SigningKey, error) {
				if len(keys) > 0 {
					return keys, nil
				}
				made.Add(1)
				return []oauth.SigningKey{{KID: newID(t), Algorithm: "ES256", PublicJWK: []byte("{}"), Sealed: []byte("s"),
					State: oauth.KeyActive, CreatedAt: clock.Now()}}, nil
			})
		})
		if countNil(errs) != 8 || made.Load() != 1 {
			t.Errorf("KY-3 %d processes made a first key: %v", made.Load(), errs)
		}
		keys, err := d.Keys(ctx)
		if err != nil || len(keys) != 1 || keys[0].State != oauth.KeyActive {
			t.Fatalf("keys are %+v, %v", keys, err)
		}
		refused := errors.New("no")
		err = d.ChangeKeys(ctx, func([]oauth.SigningKey) ([]oauth.SigningKey, error) { return nil, refused })
		if !errors.Is(err, refused) {
			t.Errorf("the caller's error is lost: %v", err)
		}
		if err := d.ChangeKeys(ctx, func([]oauth.SigningKey) ([]oauth.SigningKey, error) { return nil, nil }); err != nil {
			t.Fatal(err)
		}
		if keys, err = d.Keys(ctx); err != nil || len(keys) != 0 {
			t.Errorf("dropping left %+v, %v", keys, err)
		}
	})
}

// TestOAuthContract runs the contract that every store of the authorization server keeps.
func TestOAuthContract(t *testing.T) {
	t.Parallel()
	for _, dialect := range []string{db.SQLite, db.Postgres} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			oauthtest.RunStoreTests(t, func(t *testing.T) oauthtest.Fixture {
				url := dbtest.SQLiteURL
				if dialect == db.Postgres {
					url = dbtest.PostgresURL
				}
				d := dbtest.Open(t, url(t), time.Now)
				return oauthtest.Fixture{
					Stores:      oauth.Stores{Clients: d, Requests: d, Codes: d, Tokens: d, Keys: d, Proofs: d, Grants: d, Devices: d},
					NewUser:     func(t *testing.T) string { return seed{t, d}.user("Ada") },
					DisableUser: func(t *testing.T, id string) { seed{t, d}.disable(id) },
					AddInitialToken: func(t *testing.T, hash []byte, uses int, expires time.Time) {
						token := policy.Token{ID: uuid.NewString(), Name: "test", MaxUses: uses, CreatedAt: oauthtest.Start, ExpiresAt: &expires}
						if err := d.InsertRegistrationToken(t.Context(), token, hash); err != nil {
							t.Fatal(err)
						}
					},
					Bar: func(t *testing.T, id string) {
						if err := d.CloseConnection(t.Context(), "", id, oauth.EndedByUser, oauthtest.Start); err != nil {
							t.Fatal(err)
						}
					},
				}
			})
		})
	}
}
