package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// statementLog logs slow statements and those that fail unexpectedly, without their values. What callers expect and put
// into words of their own is not logged here as well.
type statementLog struct {
	logger.Interface
	log *slog.Logger
}

func gormLogger(log *slog.Logger) logger.Interface {
	if log == nil {
		return logger.Discard
	}
	return statementLog{log: log, Interface: logger.NewSlogLogger(log, logger.Config{
		SlowThreshold:             500 * time.Millisecond,
		LogLevel:                  logger.Warn,
		IgnoreRecordNotFoundError: true,
		ParameterizedQueries:      true,
	})}
}

// LogMode implements logger.Interface.
func (l statementLog) LogMode(level logger.LogLevel) logger.Interface {
	return statementLog{Interface: l.Interface.LogMode(level), log: l.log}
}

// ParamsFilter implements gorm.ParamsFilter: values stay out of the log.
func (statementLog) ParamsFilter(_ context.Context, sql string, _ ...any) (string, []any) {
	return sql, nil
}

// Warn implements logger.Interface; GORM's texts hold verbs for their values.
func (l statementLog) Warn(ctx context.Context, text string, values ...any) {
	l.log.WarnContext(ctx, fmt.Sprintf(text, values...))
}

// Error implements logger.Interface.
func (l statementLog) Error(ctx context.Context, text string, values ...any) {
	l.log.ErrorContext(ctx, fmt.Sprintf(text, values...))
}

// Trace implements logger.Interface.
func (l statementLog) Trace(ctx context.Context, begin time.Time, statement func() (string, int64), err error) {
	if !expected(err) {
		l.Interface.Trace(ctx, begin, statement, err)
	}
}

// expected reports whether err is one that the caller has words for: a conflict, a conflict that is tried again, somebody
// who left, and a database that cannot be reached.
func expected(err error) bool {
	var connect *pgconn.ConnectError
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return false
	case errors.Is(err, gorm.ErrDuplicatedKey), errors.Is(err, context.Canceled), errors.Is(err, driver.ErrBadConn),
		errors.As(err, &connect), retryable(err), unusableFile(err):
		return true
	default:
		return errors.As(err, &pg) && pg.Code[:3] == "57P" // the server is stopping or starting
	}
}
