package app

import (
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// requestID gives every request an id of ours and sends it back; an id sent by the client is not trusted.
func requestID(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := uuid.NewV7()
		if err != nil {
			return err
		}
		c.Response().Header().Set(echo.HeaderXRequestID, id.String())
		return next(c)
	}
}

// logRequests writes one event per request when it is over: the route's pattern, never the URL, since paths and queries
// can hold capabilities. Frequent routes are logged at debug.
func logRequests(log *slog.Logger) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			start := time.Now()
			err := next(c)
			if err != nil {
				c.Error(err) // written now, so that the status below is the one sent
			}
			level := slog.LevelInfo
			if quiet(c.Path()) {
				level = slog.LevelDebug
			}
			status := c.Response().Status
			if status >= http.StatusInternalServerError {
				level = slog.LevelError
			}
			if !log.Enabled(c.Request().Context(), level) {
				return nil
			}
			log.LogAttrs(c.Request().Context(), level, "request",
				slog.String("method", c.Request().Method), slog.String("route", c.Path()), slog.Int("status", status),
				slog.Int64("ms", time.Since(start).Milliseconds()), slog.String("ip", c.RealIP()),
				slog.String("request_id", c.Response().Header().Get(echo.HeaderXRequestID)),
				slog.String("agent", truncate(c.Request().UserAgent(), 120)))
			return nil
		}
	}
}

func quiet(route string) bool {
	switch route {
	case "/mcp", "/mcp/", "/healthz", "/readyz", "/static/*", "/static/:name":
		return true
	}
	return false
}

func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n]
}

// recoverPanics turns a handler's panic into a 500 for that request and a log line with the stack.
func recoverPanics(log *slog.Logger) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) (err error) {
			defer func() {
				p := recover()
				if p == nil {
					return
				}
				if p == http.ErrAbortHandler {
					panic(p)
				}
				log.Error("panic", "value", p, "route", c.Path(), "stack", string(debug.Stack()),
					"request_id", c.Response().Header().Get(echo.HeaderXRequestID))
				err = echo.NewHTTPError(http.StatusInternalServerError)
			}()
			return next(c)
		}
	}
}
