package doctor

import "time"

// Status is how a step came out.
type Status string

// The outcomes of a step.
const (
	OK Status = "ok"
	// Note is a step that was left out, or that says something without being a fault.
	Note Status = "note"
	// Warning is something that stops some apps, or that would stop them elsewhere.
	Warning Status = "warning"
	// Failed is something that stops an app of its section.
	Failed Status = "failed"
)

// Step is one thing that was looked at.
type Step struct {
	// Check is the fixed name of what was looked at, Finding that of the fault.
	Check   string `json:"check"`
	Status  Status `json:"status"`
	Finding string `json:"finding,omitempty"`
	Title   string `json:"title"`
	// Detail is what was seen, Mend what to do about it.
	Detail string `json:"detail,omitempty"`
	Mend   string `json:"mend,omitempty"`
}

// Section is the part of a walk that concerns every app, or one.
type Section struct {
	As    string `json:"as"`
	Title string `json:"title"`
	Steps []Step `json:"steps"`
}

// Report is a finished walk.
type Report struct {
	URL       string    `json:"url"`
	CheckedAt time.Time `json:"checked_at"`
	Sections  []Section `json:"sections"`
	Failed    int       `json:"failed"`
	Warnings  int       `json:"warnings"`
}

// problem is a fault of a step.
type problem struct {
	finding, detail, mend string
	// mild makes it a warning.
	mild bool
}

// softened is the same fault where it stops no app of the section.
func (p *problem) softened() *problem {
	if p == nil {
		return nil
	}
	q := *p
	q.mild = true
	return &q
}

func (w *walk) begin(as, title string) {
	w.report.Sections = append(w.report.Sections, Section{As: as, Title: title})
}

func (w *walk) add(s Step) {
	s.Detail = w.clean(s.Detail)
	section := &w.report.Sections[len(w.report.Sections)-1]
	section.Steps = append(section.Steps, s)
	switch s.Status {
	case Failed:
		w.report.Failed++
	case Warning:
		w.report.Warnings++
	}
}

func (w *walk) ok(check, title, detail string) {
	w.add(Step{Check: check, Status: OK, Title: title, Detail: detail})
}

func (w *walk) note(check, title, detail string) {
	w.add(Step{Check: check, Status: Note, Title: title, Detail: detail})
}

// judge adds a step: ok with the detail, or the fault. It reports whether the step was ok.
func (w *walk) judge(check, title, detail string, p *problem) bool {
	if p == nil {
		w.ok(check, title, detail)
		return true
	}
	status := Failed
	if p.mild {
		status = Warning
	}
	w.add(Step{Check: check, Status: status, Finding: p.finding, Title: title, Detail: p.detail, Mend: p.mend})
	return false
}
