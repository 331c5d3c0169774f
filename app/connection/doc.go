// Package connection is the domain of approved AI apps as people see them: the list under Settings → Connections, what
// may be changed there, and how a connection or one installation of it ends.
//
// The authorization server makes connections (package oauth); this package looks at them and narrows or widens them
// afterwards. A change holds from the next call, because every call reads the rows anew. It decides; it knows neither
// HTTP nor SQL, and it never sees a token.
package connection
