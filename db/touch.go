package db

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// The last use of a connection is noted beside the calls: at most once a minute per family and process, by a worker
// that writes what has gathered in one transaction. A full queue drops the note; the next call brings another.

const (
	touchEvery   = time.Minute
	touchQueue   = 1024
	touchBatch   = 64
	touchTracked = 50_000
)

// use is one noted use.
type use struct {
	connectionID, familyID, tool, ip string
	at                               time.Time
}

// touches are the uses that wait to be written. The zero value is ready.
type touches struct {
	mu     sync.Mutex
	noted  map[string]time.Time // by family
	queue  chan use
	done   chan struct{}
	closed bool
}

// TouchConnection notes that a family of a connection was used: when, from which address, and for which tool (empty
// for calls that are none). It returns at once.
func (d *DB) TouchConnection(ctx context.Context, connectionID, familyID, tool, ip string, now time.Time) {
	t := &d.touch
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || now.Sub(t.noted[familyID]) < touchEvery {
		return
	}
	if t.queue == nil {
		t.start(context.WithoutCancel(ctx), d)
	}
	if len(t.noted) >= touchTracked {
		clear(t.noted) // at worst everybody is noted once more
	}
	select {
	case t.queue <- use{connectionID, familyID, cleanText(tool), cleanText(ip), now}:
		t.noted[familyID] = now
	default:
	}
}

func (t *touches) start(ctx context.Context, d *DB) {
	t.noted, t.queue, t.done = map[string]time.Time{}, make(chan use, touchQueue), make(chan struct{})
	go d.writeTouches(ctx, t.queue, t.done)
}

// close writes what waits and stops the worker.
func (t *touches) close() {
	t.mu.Lock()
	closing := !t.closed && t.queue != nil
	t.closed = true
	if closing {
		close(t.queue)
	}
	t.mu.Unlock()
	if closing {
		<-t.done
	}
}

func (d *DB) writeTouches(ctx context.Context, queue <-chan use, done chan<- struct{}) {
	defer close(done)
	for first := range queue {
		batch := []use{first}
		for len(batch) < touchBatch && len(queue) > 0 {
			u, ok := <-queue
			if !ok {
				break
			}
			batch = append(batch, u)
		}
		if err := d.noteUses(ctx, batch); err != nil {
			d.log.WarnContext(ctx, "last use of connections was not noted", "count", len(batch), "error", err)
		}
	}
}

// noteUses never moves a last use backwards: another process may have noted a later one.
func (d *DB) noteUses(ctx context.Context, batch []use) error {
	text := `UPDATE families SET last_used_at = ?, last_used_ip = ?, last_used_tool = ?
		WHERE id = ? AND connection_id = ? AND (last_used_at IS NULL OR last_used_at < ?)`
	return d.rawTx(ctx, []string{text}, func(ctx context.Context, st []*sql.Stmt) error {
		for _, u := range batch {
			if !isID(u.familyID) || !isID(u.connectionID) {
				continue
			}
			at := d.ts(u.at)
			if _, err := st[0].ExecContext(ctx, at, u.ip, u.tool, u.familyID, u.connectionID, at); err != nil {
				return err
			}
		}
		return nil
	})
}
