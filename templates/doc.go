// Package templates holds the pages people see: templ components, the view models that fill them, and the one style
// sheet. A view model carries only what its page shows, already chosen and put into words by package web.
//
// Pages work without JavaScript, from 360 px upwards, in light and dark. No component carries an inline style or script,
// since the Content-Security-Policy allows none.
//
// The package imports nothing of ours, reads no clock and no request, and must never be given a secret to show except
// the one page whose purpose that is (a personal token, once).
package templates
