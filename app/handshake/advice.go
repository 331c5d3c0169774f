package handshake

const again = "Remove the connector in the app and add it again."

// advice is what to do when a check refused; the empty name stands for every other check. The texts are keys of the
// catalogues of other languages.
var advice = map[string]string{
	"":                      "Start again from the app. If it stays, remove the connector in the app and add it again.",
	"host":                  "The app reached this server under another name than its public URL. Use the public URL in the app; an administrator checks that URL, and that the proxy passes Host on unchanged.",
	"origin":                "The app runs in a browser page that may not call this server. An administrator can allow its origin.",
	"client":                "The app names a registration that is not here any more. " + again,
	"client_id":             "The app sent no client id, or one that is not known here. " + again,
	"client_blocked":        "An administrator blocked this app. Only an administrator can let it in again.",
	"client_secret":         "The app's stored secret is not the right one. " + again,
	"client_auth_method":    "The app proves itself in another way than it registered. " + again,
	"client_assertion":      "The app could not prove itself by its signature. Try again once; if it stays, tell the app's maker.",
	"client_keys":           "The app's keys could not be read. Try later; if it stays, tell the app's maker.",
	"client_document":       "The app's own description could not be read or is not valid. Try later; if it stays, tell the app's maker.",
	"client_document_limit": "The app's description was asked for too often. Wait a minute and try again.",
	"redirect_uri":          "The app wants the answer at an address that it did not register. " + again + " If it stays, tell the app's maker.",
	"redirect_uris":         "The app registered with an address that may not receive answers. Tell the app's maker.",
	"registration":          "The app's registration was not valid. Tell the app's maker.",
	"ceiling":               "There are too many self-registered apps. An administrator can remove unused ones.",
	"code_challenge":        "The app did not prepare the proof key that is needed (PKCE). Update the app.",
	"code_challenge_method": "The app uses a proof key method that is not accepted (only S256 is). Update the app.",
	"code_verifier":         "The app could not prove that it began this attempt. Start again from the app, once.",
	"code":                  "The app presented a code that is not known. Start again from the app.",
	"code_expired":          "The app came back too late with its code. Start again from the app.",
	"code_used":             "The app used its code twice. Start again from the app; if it stays, tell the app's maker.",
	"code_client":           "The code was presented by another app than it was made for. " + again,
	"consent":               "Start again from the app and choose what it may do.",
	"sign_in":               "Sign in and start again from the app.",
	"account":               "This account may not sign in. Ask an administrator.",
	"authorization_details": "The app asked for tools or limits that do not exist here, or for more than it was given. Tell the app's maker.",
	"grant_id":              "The app wants to change a connection that is not there for it any more. Connect the app again.",
	"scope":                 "The app asked for permissions that do not exist here. " + again,
	"resource":              "The app asked for another address than this server has. Check the address in the connector's settings.",
	"resource_gone":         "The endpoint was removed. Remove the connector in the app.",
	"connection_ended":      "The connection was disconnected. " + again,
	"connection_expired":    "The connection has come to its end. " + again,
	"family_ended":          "This installation was ended. " + again,
	"family_limit":          "The sign-in has reached its greatest age. Connect the app again.",
	"ended":                 "The connection was disconnected. " + again,
	"refresh_token":         "The app's sign-in is not known here any more. Connect the app again.",
	"refresh_expired":       "The app was not used for too long. Connect the app again.",
	"refresh_reuse":         "An old copy of the app's sign-in was used, so this installation was ended for safety. Connect the app again.",
	"refresh_client":        "The sign-in was presented by another app than it was made for. " + again,
	"request":               "The request took too long or is not known. Start again from the app.",
	"prompt":                "The app wanted an answer without asking anybody. Start again from the app.",
	"store":                 "The server had a fault of its own. Try again in a moment.",
}

// Advice is what to do when the check of this name refused.
func Advice(check string) string {
	if a, ok := advice[check]; ok {
		return a
	}
	return advice[""]
}
