package parcel

import "time"

// Event is one immutable entry of a parcel's tracking history.
type Event struct {
	Seq       int64     `json:"seq"`
	ParcelID  ID        `json:"parcel_id"`
	From      State     `json:"from"`
	To        State     `json:"to"`
	At        time.Time `json:"at"`
	CourierID string    `json:"courier_id,omitempty"`
	Note      string    `json:"note,omitempty"`
}

// publicText is what a recipient reads; states missing here stay internal.
var publicText = map[State]string{
	Created:        "Shipment announced",
	Sorted:         "Arrived at the delivery depot",
	OutForDelivery: "Out for delivery",
	Delivered:      "Delivered",
	Failed:         "Delivery attempt failed",
	Returned:       "On its way back to the sender",
	Cancelled:      "Cancelled",
}

// Entry is a line of the public timeline.
type Entry struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	Note string    `json:"note,omitempty"`
}

// Timeline renders the history for the recipient, newest first. Internal
// steps are left out.
func Timeline(events []Event) []Entry {
	var out []Entry
	for i := len(events) - 1; i >= 0; i-- {
		if text, public := publicText[events[i].To]; public {
			out = append(out, Entry{At: events[i].At, Text: text, Note: events[i].Note})
		}
	}
	return out
}
