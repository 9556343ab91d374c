// Command courierd is the dispatch daemon: HTTP API and job queue.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"example.com/courier/internal/config"
	"example.com/courier/internal/dispatch"
	"example.com/courier/internal/httpapi"
	"example.com/courier/internal/metrics"
	"example.com/courier/internal/queue"
	"example.com/courier/internal/route"
	"example.com/courier/internal/store"
	"example.com/courier/internal/tracking"
)

func main() {
	path := flag.String("config", "config/courierd.json", "configuration file")
	flag.Parse()
	logger := log.New(os.Stderr, "courierd ", log.LstdFlags|log.LUTC)

	cfg, err := config.Load(*path)
	if err != nil {
		logger.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, cfg, logger); err != nil {
		logger.Fatal(err)
	}
}

// run wires the parts together and serves until the context ends.
func run(ctx context.Context, cfg config.Config, logger *log.Logger) error {
	st, err := openStore(cfg)
	if err != nil {
		return err
	}
	defer st.Close()

	reg := metrics.New()
	planner := route.NewPlanner(cfg.Cost)
	d := dispatch.New(st, planner, &dispatch.WeightedScorer{Weights: cfg.Weights}, reg, time.Now)
	q := queue.New(cfg.Retry(), reg)
	q.Handle(dispatch.AssignKind, dispatch.AssignHandler(d))
	if err := dispatch.Resume(ctx, d, q); err != nil {
		return err
	}
	go q.Run(ctx, cfg.Poll())

	api := &httpapi.Server{
		Tracking:   &tracking.Service{Store: st, Dispatcher: d, Queue: q, Metrics: reg, Now: time.Now},
		Dispatcher: d, Couriers: st, Queue: q, Metrics: reg, Token: cfg.Token, Logger: logger,
	}
	srv := &http.Server{Addr: cfg.Listen, Handler: api.Handler(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		// 留出时间让进行中的请求落盘，再关闭日志文件。
		grace, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = srv.Shutdown(grace)
	}()
	logger.Printf("listening on %s", cfg.Listen)
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func openStore(cfg config.Config) (store.Store, error) {
	if cfg.DataFile == "" {
		return store.NewMemory(), nil
	}
	return store.Open(cfg.DataFile)
}
