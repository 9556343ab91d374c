// Package store keeps parcels, couriers and tracking events. Services depend
// on the interfaces; Memory and File implement all of them.
package store

import (
	"context"
	"errors"

	"example.com/courier/internal/fleet"
	"example.com/courier/internal/parcel"
)

var (
	// ErrNotFound reports an id that is not in the store.
	ErrNotFound = errors.New("store: not found")
	// ErrConflict reports that somebody else saved the record in between.
	ErrConflict = errors.New("store: version conflict")
	// ErrExists reports an id that is taken.
	ErrExists = errors.New("store: already exists")
)

// Parcels stores parcels together with the events that changed them.
type Parcels interface {
	Parcel(ctx context.Context, id parcel.ID) (*parcel.Parcel, error)
	// ParcelsIn lists the parcels in a state, oldest first.
	ParcelsIn(ctx context.Context, state parcel.State) ([]*parcel.Parcel, error)
	// ParcelsOf lists the open parcels of a courier, oldest first.
	ParcelsOf(ctx context.Context, courierID string) ([]*parcel.Parcel, error)
	CreateParcel(ctx context.Context, p *parcel.Parcel) error
	// SaveParcel replaces a parcel and appends its events in one step. It
	// fails with ErrConflict unless p.Version is the stored version, and
	// increments p.Version on success.
	SaveParcel(ctx context.Context, p *parcel.Parcel, events ...parcel.Event) error
}

// Events reads the tracking history.
type Events interface {
	EventsOf(ctx context.Context, id parcel.ID) ([]parcel.Event, error)
}

// Couriers stores the roster.
type Couriers interface {
	Courier(ctx context.Context, id string) (*fleet.Courier, error)
	ListCouriers(ctx context.Context) ([]*fleet.Courier, error)
	PutCourier(ctx context.Context, c *fleet.Courier) error
}

// Store is everything a deployment needs.
type Store interface {
	Parcels
	Events
	Couriers
	Close() error
}
