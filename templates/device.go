package templates

// DeviceCodeView is the page on which a person enters the code that a device shows.
type DeviceCodeView struct {
	Shell   ShellView
	Token   string
	Code    string
	Problem string
}

// DeviceConfirmView is the page on which a person decides about a device.
type DeviceConfirmView struct {
	Shell ShellView
	Token string
	// Code is the code to compare with the one on the device.
	Code string
	App  AppView
	// Resource is what the device wants to reach.
	Resource string
	// Device and Address are what is known of where the request came from; Asked is when.
	Device, Address string
	Asked           TimeView
	PersonName      string
	PersonEmail     string
	// SwitchToken is the form token of the "not you?" button, Return where to come back to.
	SwitchToken, Return string
	Scopes              []ChoiceView
	Located             bool
	Locations           []ChoiceView
	Expiries            []ChoiceView
	Existing            *ExistingView
	Problem             string
}

// DeviceDoneView tells that a decision about a device was taken.
type DeviceDoneView struct {
	Shell   ShellView
	App     string
	Allowed bool
}
