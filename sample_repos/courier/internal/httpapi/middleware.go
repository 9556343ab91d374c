package httpapi

import (
	"crypto/subtle"
	"log"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/courier/internal/metrics"
)

// recorder 记住状态码，供访问日志使用。
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func accessLog(logger *log.Logger, reg *metrics.Registry, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recorder{ResponseWriter: w, status: http.StatusOK}
		begin := time.Now()
		next.ServeHTTP(rec, r)
		reg.Inc("courier_http_requests_total", "method", r.Method, "status", strconv.Itoa(rec.status))
		logger.Printf("%s %s %d %s", r.Method, r.URL.Path, rec.status, time.Since(begin).Round(time.Microsecond))
	})
}

// requireToken 校验 Bearer 令牌；令牌为空表示关闭鉴权（仅限本机调试）。
// 比较使用常数时间算法，防止按响应时间逐位猜测。
func requireToken(token string, next http.Handler) http.Handler {
	if token == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
			writeProblem(w, http.StatusUnauthorized, "missing or wrong token")
			return
		}
		next.ServeHTTP(w, r)
	})
}
