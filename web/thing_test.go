package web_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/app/inventory"
)

const thingID = "0195c1a2-0000-7000-8000-0000000000aa"

func drill(now time.Time) inventory.ThingDetail {
	minimum := 2
	return inventory.ThingDetail{
		ThingSummary: inventory.ThingSummary{
			ThingRef: inventory.ThingRef{ID: thingID, ShortCode: "7K3QM2", LocationID: homeID, Name: "Drill <b>", Aliases: []string{"Borer"}, Path: []string{"Cellar", "Shelf 2"}},
			Quantity: 1, Lifecycle: "given_away", States: []string{inventory.StateUncertain, inventory.StateEnded, inventory.StateLowStock, inventory.StateLent}, LastSeenAt: &now,
		},
		Type: &inventory.Named{Name: "Tool"}, Brand: &inventory.Named{Name: "Makita"}, Condition: "fair", Minimum: &minimum, AcquiredOn: "2026-01-05",
		CreatedAt: now.Add(-time.Hour), UpdatedAt: now, Model: "DF333", Serial: "S-1", Notes: "Two\nbatteries", Tags: []inventory.Named{{Name: "Lent often"}},
		Custom: map[string]any{"max_volt": json.Number("18"), "cordless": true, "loud": false, "gap": nil, "weight": 1.5, "colour": "blue"},
	}
}

func TestThingPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.things.thing = drill(s.clock.Now())
	b := s.signedIn(t)
	for _, path := range []string{thingID, "7K3QM2", "7k3-qm2", "7K3%E2%80%91QM2", "7K3%20QM2", strings.ToUpper(thingID), thingID + "/"} {
		if a := b.get(t, "/things/"+path); a.status != http.StatusOK || a.find("h1", "class", "break") == nil || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("KE-24 /things/%s: %d", path, a.status)
		}
	}
	page := b.get(t, "/things/"+thingID).body
	for _, want := range []string{
		"Drill &lt;b&gt;", "7K3\u2011QM2", "Home › Cellar › Shelf 2", "Borer", "1, running low at 2", "Tool", "Makita", "DF333", "S-1", "Fair", "5 January 2026",
		"Given away", "Place not certain", "Running low", "Lent<", "Two\nbatteries", "Lent often", "Max volt", ">18<", "Cordless", ">Yes<", ">No<", ">1.5<", "blue", "1 hour ago",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("KE-24 %q is missing: %s", want, page)
		}
	}
	for _, unwanted := range []string{"Value", "Price", "Bought", "Ended", "Gap"} {
		if strings.Contains(page, unwanted) {
			t.Errorf("KE-63 %q is on the page", unwanted)
		}
	}
	price, _ := inventory.ParseMoney("119.9", "EUR")
	s.things.thing.Value = &price
	s.things.thing.Purchase = &inventory.PurchaseView{PurchasedOn: "2026-01-05", Seller: "A shop", Price: &price}
	page = b.get(t, "/things/7K3QM2").body
	for _, want := range []string{"Value", "119.90 EUR", "A shop", "Bought from", "Price"} {
		if !strings.Contains(page, want) {
			t.Errorf("KE-63 %q is missing for who may see money", want)
		}
	}
}

func TestThingPageRefuses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.things.thing = drill(s.clock.Now())
	for target, want := range map[string]string{
		"/things/" + thingID: "/signin?return=%2Fthings%2F" + thingID, "/things/7K3%E2%80%91QM2": "/signin?return=%2Fthings%2F7K3%25E2%2580%2591QM2",
	} {
		b := s.browser()
		a := b.get(t, target)
		if a.status != http.StatusSeeOther || a.header.Get("Location") != want {
			t.Errorf("BH-7 a stranger at %s: %d %s", target, a.status, a.header.Get("Location"))
		}
		form := b.get(t, a.header.Get("Location")).form(t, "/signin")
		form.Set("email", email)
		form.Set("password", password)
		if a := b.post(t, "/signin", form); a.header.Get("Location") != target || b.get(t, target).status != http.StatusOK {
			t.Errorf("BH-7 the way back to %s: %d %s", target, a.status, a.header.Get("Location"))
		}
	}
	own, bob := s.signedIn(t), s.signedInAs(t, "bob@example.org")
	none := own.get(t, "/things/0195c1a2-0000-7000-8000-0000000000ff")
	shown(t, "no such thing", none, http.StatusNotFound)
	shown(t, "no id or code", own.get(t, "/things/nothing<script>"), http.StatusNotFound)
	theirs := bob.get(t, "/things/"+thingID)
	shown(t, "other people's thing", theirs, http.StatusNotFound)
	if theirs.body != none.body {
		t.Error("other people's thing reads otherwise than one that does not exist")
	}
	if a := own.post(t, "/things/"+thingID, nil); a.status != http.StatusMethodNotAllowed {
		t.Errorf("the page takes a POST: %d", a.status)
	}
	s.things.err = &inventory.Error{Code: inventory.CodeForbidden}
	shown(t, "a role that may not look", own.get(t, "/things/"+thingID), http.StatusNotFound)
	s.things.err = errors.New("the store is down")
	shown(t, "a fault of ours", own.get(t, "/things/"+thingID), http.StatusInternalServerError)
}
