package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"sync"

	"example.com/courier/internal/fleet"
	"example.com/courier/internal/parcel"
)

// File 是追加写日志存储：每次修改先落盘一行记录，再更新内嵌的内存存储；
// 启动时重放日志恢复状态。读操作全部直接由 Memory 提供。
type File struct {
	*Memory
	wmu sync.Mutex // 保证磁盘顺序与内存顺序一致
	f   *os.File
}

// Open replays the log at path, creating it if need be. A torn last line, as
// a crash in the middle of a write leaves it, is cut off; damage anywhere else
// is an error, because silently losing acknowledged parcels is worse than not
// starting.
func Open(path string) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	s := &File{Memory: NewMemory(), f: f}
	good, err := s.replay()
	if err == nil {
		err = f.Truncate(good)
	}
	if err == nil {
		_, err = f.Seek(good, 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("store: open %s: %w", path, err)
	}
	return s, nil
}

// replay applies every record and returns the length of the intact prefix.
func (s *File) replay() (int64, error) {
	r := bufio.NewReader(s.f)
	var good int64
	for line := 1; ; line++ {
		raw, err := r.ReadBytes('\n')
		if err != nil {
			// No newline: either the clean end or a torn write.
			return good, nil
		}
		rec, err := decode(raw)
		if err != nil {
			if _, more := r.Peek(1); more != nil {
				return good, nil
			}
			return good, fmt.Errorf("line %d: %w", line, err)
		}
		s.apply(rec)
		good += int64(len(raw))
	}
}

func (s *File) apply(rec record) {
	switch {
	case rec.Parcel != nil:
		s.parcels[rec.Parcel.ID] = rec.Parcel
		s.appendEvents(rec.Parcel.ID, rec.Events...)
	case rec.Courier != nil:
		s.couriers[rec.Courier.ID] = *rec.Courier
	}
}

// append 写入一条记录并刷盘；返回 nil 之后该记录不会因进程崩溃丢失。
func (s *File) append(rec record) error {
	raw, err := encode(rec)
	if err != nil {
		return err
	}
	if _, err := s.f.Write(raw); err != nil {
		return fmt.Errorf("store: write: %w", err)
	}
	if err := s.f.Sync(); err != nil {
		return fmt.Errorf("store: sync: %w", err)
	}
	return nil
}

// CreateParcel implements Parcels.
func (s *File) CreateParcel(ctx context.Context, p *parcel.Parcel) error {
	s.wmu.Lock()
	defer s.wmu.Unlock()
	if _, err := s.Memory.Parcel(ctx, p.ID); err == nil {
		return fmt.Errorf("%w: parcel %s", ErrExists, p.ID)
	}
	logged := p.Clone()
	logged.Version = 1
	created := parcel.Event{ParcelID: p.ID, To: p.State, At: p.CreatedAt}
	if err := s.append(record{Parcel: logged, Events: []parcel.Event{created}}); err != nil {
		return err
	}
	return s.Memory.CreateParcel(ctx, p)
}

// SaveParcel implements Parcels. The version is checked before the record is
// written, so the log never holds a change that was refused.
func (s *File) SaveParcel(ctx context.Context, p *parcel.Parcel, events ...parcel.Event) error {
	s.wmu.Lock()
	defer s.wmu.Unlock()
	s.mu.RLock()
	err := s.checkVersion(p)
	s.mu.RUnlock()
	if err != nil {
		return err
	}
	logged := p.Clone()
	logged.Version++
	if err := s.append(record{Parcel: logged, Events: events}); err != nil {
		return err
	}
	return s.Memory.SaveParcel(ctx, p, events...)
}

// PutCourier implements Couriers.
func (s *File) PutCourier(ctx context.Context, c *fleet.Courier) error {
	s.wmu.Lock()
	defer s.wmu.Unlock()
	if err := s.append(record{Courier: c}); err != nil {
		return err
	}
	return s.Memory.PutCourier(ctx, c)
}

// Close syncs and closes the log.
func (s *File) Close() error {
	s.wmu.Lock()
	defer s.wmu.Unlock()
	return s.f.Close()
}

// errCorrupt reports a log line whose checksum does not match.
var errCorrupt = errors.New("corrupt record")

// record is one line of the log: the new state of one parcel with the events
// that led there, or of one courier.
type record struct {
	Parcel  *parcel.Parcel `json:"p,omitempty"`
	Events  []parcel.Event `json:"e,omitempty"`
	Courier *fleet.Courier `json:"c,omitempty"`
}

// encode renders a record as "crc32 json\n".
func encode(rec record) ([]byte, error) {
	body, err := json.Marshal(rec)
	if err != nil {
		return nil, fmt.Errorf("store: encode: %w", err)
	}
	return []byte(fmt.Sprintf("%08x %s\n", crc32.ChecksumIEEE(body), body)), nil
}

func decode(line []byte) (record, error) {
	var rec record
	sum, body, ok := bytes.Cut(bytes.TrimRight(line, "\n"), []byte(" "))
	if !ok || fmt.Sprintf("%08x", crc32.ChecksumIEEE(body)) != string(sum) {
		return rec, errCorrupt
	}
	if err := json.Unmarshal(body, &rec); err != nil {
		return rec, fmt.Errorf("%w: %v", errCorrupt, err)
	}
	return rec, nil
}
