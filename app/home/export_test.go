package home

// ActionCount is the number of actions in the table.
var ActionCount = len(table)
