package store

import (
	"context"
	"fmt"
	"sort"
	"sync"

	"example.com/courier/internal/fleet"
	"example.com/courier/internal/parcel"
)

// Memory 是不落盘的存储；进出都做拷贝，调用方改动不会影响库内数据。
type Memory struct {
	mu       sync.RWMutex
	parcels  map[parcel.ID]*parcel.Parcel
	couriers map[string]fleet.Courier
	events   map[parcel.ID][]parcel.Event
	seq      int64
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{
		parcels:  map[parcel.ID]*parcel.Parcel{},
		couriers: map[string]fleet.Courier{},
		events:   map[parcel.ID][]parcel.Event{},
	}
}

func (m *Memory) Parcel(_ context.Context, id parcel.ID) (*parcel.Parcel, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	p, ok := m.parcels[id]
	if !ok {
		return nil, fmt.Errorf("%w: parcel %s", ErrNotFound, id)
	}
	return p.Clone(), nil
}

func (m *Memory) ParcelsIn(_ context.Context, state parcel.State) ([]*parcel.Parcel, error) {
	return m.filter(func(p *parcel.Parcel) bool { return p.State == state }), nil
}

func (m *Memory) ParcelsOf(_ context.Context, courierID string) ([]*parcel.Parcel, error) {
	return m.filter(func(p *parcel.Parcel) bool {
		return p.CourierID == courierID && (p.State == parcel.Assigned || p.State == parcel.OutForDelivery)
	}), nil
}

func (m *Memory) filter(keep func(*parcel.Parcel) bool) []*parcel.Parcel {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var out []*parcel.Parcel
	for _, p := range m.parcels {
		if keep(p) {
			out = append(out, p.Clone())
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if !out[i].CreatedAt.Equal(out[j].CreatedAt) {
			return out[i].CreatedAt.Before(out[j].CreatedAt)
		}
		return out[i].ID < out[j].ID
	})
	return out
}

func (m *Memory) CreateParcel(_ context.Context, p *parcel.Parcel) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.parcels[p.ID]; taken {
		return fmt.Errorf("%w: parcel %s", ErrExists, p.ID)
	}
	p.Version = 1
	m.parcels[p.ID] = p.Clone()
	m.appendEvents(p.ID, parcel.Event{ParcelID: p.ID, To: p.State, At: p.CreatedAt})
	return nil
}

func (m *Memory) SaveParcel(_ context.Context, p *parcel.Parcel, events ...parcel.Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.checkVersion(p); err != nil {
		return err
	}
	p.Version++
	m.parcels[p.ID] = p.Clone()
	m.appendEvents(p.ID, events...)
	return nil
}

// checkVersion 是乐观锁：版本号不一致说明期间有人改过；调用方须持有 mu。
func (m *Memory) checkVersion(p *parcel.Parcel) error {
	old, ok := m.parcels[p.ID]
	if !ok {
		return fmt.Errorf("%w: parcel %s", ErrNotFound, p.ID)
	}
	if old.Version != p.Version {
		return fmt.Errorf("%w: parcel %s is at version %d, not %d", ErrConflict, p.ID, old.Version, p.Version)
	}
	return nil
}

func (m *Memory) appendEvents(id parcel.ID, events ...parcel.Event) {
	for _, ev := range events {
		m.seq++
		ev.Seq = m.seq
		m.events[id] = append(m.events[id], ev)
	}
}

func (m *Memory) EventsOf(_ context.Context, id parcel.ID) ([]parcel.Event, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if _, ok := m.parcels[id]; !ok {
		return nil, fmt.Errorf("%w: parcel %s", ErrNotFound, id)
	}
	return append([]parcel.Event(nil), m.events[id]...), nil
}

func (m *Memory) Courier(_ context.Context, id string) (*fleet.Courier, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	c, ok := m.couriers[id]
	if !ok {
		return nil, fmt.Errorf("%w: courier %s", ErrNotFound, id)
	}
	return &c, nil
}

// ListCouriers implements Couriers, ordered by id.
func (m *Memory) ListCouriers(context.Context) ([]*fleet.Courier, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	out := make([]*fleet.Courier, 0, len(m.couriers))
	for _, c := range m.couriers {
		copied := c
		out = append(out, &copied)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out, nil
}

func (m *Memory) PutCourier(_ context.Context, c *fleet.Courier) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.couriers[c.ID] = *c
	return nil
}

func (m *Memory) Close() error { return nil }
