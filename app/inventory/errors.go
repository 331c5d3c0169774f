package inventory

import (
	"fmt"
	"strings"
)

// Code is a word of the error vocabulary that REST and tools share.
type Code string

// The codes this package answers with.
const (
	CodeValidation         Code = "validation"
	CodeCurrencyNotEnabled Code = "currency_not_enabled"
	CodeForbidden          Code = "forbidden"
	CodeTokenScope         Code = "token_scope"
	CodeNotFound           Code = "not_found"
	CodeToolUnavailable    Code = "tool_unavailable"
	CodeConflict           Code = "conflict"
	CodeModuleOff          Code = "module_off"
	CodeLimitReached       Code = "limit_reached"
	CodeTooDeep            Code = "too_deep"
	CodeWouldCycle         Code = "would_cycle"
	CodeNotAContainer      Code = "not_a_container"
	CodeInUse              Code = "in_use"
	CodeQuantityNotOne     Code = "quantity_not_one"
	CodeAlreadyOnLoan      Code = "already_on_loan"
	CodePreconditionFailed Code = "precondition_failed"
	CodeUndoRefused        Code = "undo_refused"
)

// Error is a refusal the caller may see. Hint and messages are fixed English with ids, codes, numbers and field paths;
// they never repeat a value that was sent nor a stored text.
type Error struct {
	Code    Code
	Hint    string
	Details []FieldError
	// RowVersion, Conflicts and ChangedBy explain a failed precondition.
	RowVersion int
	Conflicts  []string
	ChangedBy  *ActorRef
	// Refusals say what stands against an undo.
	Refusals []UndoRefusal
}

// FieldError is one wrong field.
type FieldError struct {
	Path    string
	Message string
}

// ActorRef names who acted.
type ActorRef struct {
	Type string
	ID   string
	Name string
}

// Error gives code and hint.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Hint }

// Is makes two errors of one code equal for errors.Is.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Hint == ""
}

// invalid says that one field is wrong.
func invalid(path, message string) *Error { return validation([]FieldError{{path, message}}) }

func invalidf(path, format string, args ...any) *Error {
	return invalid(path, fmt.Sprintf(format, args...))
}

// validation lists every wrong field; the hint names the first.
func validation(details []FieldError) *Error {
	hint := "The input is not valid."
	if len(details) > 0 {
		hint = details[0].Path + ": " + details[0].Message
	}
	return &Error{Code: CodeValidation, Hint: hint, Details: details}
}

func notFound() *Error {
	return &Error{Code: CodeNotFound, Hint: "Nothing with this id or code is here; search again."}
}

// unavailable is one sentence for every cause, so that nothing leaks (KE-85).
func unavailable() *Error {
	return &Error{Code: CodeToolUnavailable, Hint: "This is not available to you here. Call capabilities to see what is."}
}

func tokenScope() *Error {
	return &Error{Code: CodeTokenScope, Hint: "This key may only read."}
}

func manyLocations(ids []string) *Error {
	e := invalid("location_id", "several locations are possible, give one of "+strings.Join(ids, ", "))
	return e
}

func currencyNotEnabled() *Error {
	return &Error{Code: CodeCurrencyNotEnabled, Hint: "The location does not use this currency; capabilities shows its main one."}
}

func moduleOff(module string) *Error {
	return &Error{Code: CodeModuleOff, Hint: "The module " + module + " is off in this location."}
}

func limitReached(what string, n int) *Error {
	return &Error{Code: CodeLimitReached, Hint: fmt.Sprintf("A location holds at most %d %s.", n, what)}
}

func placesTooDeep() *Error {
	return &Error{Code: CodeTooDeep, Hint: fmt.Sprintf("Places nest at most %d levels deep.", maxPlaceDepth)}
}

func containersTooDeep() *Error {
	return &Error{Code: CodeTooDeep, Hint: fmt.Sprintf("Containers nest at most %d levels deep.", maxContainerDepth)}
}

func wouldCycle() *Error {
	return &Error{Code: CodeWouldCycle, Hint: "A container cannot go into itself or into something inside it."}
}

func notAContainer() *Error {
	return &Error{Code: CodeNotAContainer, Hint: "This thing is not a container; set is_container first or choose another holder."}
}

func inUse() *Error {
	return &Error{Code: CodeInUse, Hint: "This container still holds things; move them out first."}
}

func quantityNotOne() *Error {
	return &Error{Code: CodeQuantityNotOne, Hint: "A container is a single thing: its quantity must be 1."}
}

func nameTaken(code string) *Error {
	return &Error{Code: CodeConflict, Hint: "A place of this name is already there: " + code + "."}
}

func stale(version int, conflicts []string, by *ActorRef) *Error {
	return &Error{
		Code: CodePreconditionFailed, Hint: fmt.Sprintf("It was changed meanwhile and is now at version %d; read it again.", version),
		RowVersion: version, Conflicts: conflicts, ChangedBy: by,
	}
}
