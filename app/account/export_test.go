package account

// NewArgon2 opens the hasher to the tests.
func NewArgon2(p PasswordParams) (Hasher, error) { return newArgon2(p) }
