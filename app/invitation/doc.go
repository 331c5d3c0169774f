// Package invitation brings people into locations by link: a member who may manage others makes one, whoever holds it joins
// once, as the person they are here or as a new one.
//
// It decides; it knows neither HTTP nor SQL. Rights are those of package home, looked at when the invitation is made and
// again when it is accepted. It must never keep a link in readable form, and never tell more about a location than its name
// and who invites.
package invitation
