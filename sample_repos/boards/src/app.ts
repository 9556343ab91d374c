/** Composition root: the only place that knows all concrete classes. */
import { TokenAuthenticator } from "./auth/tokens.js";
import type { Config } from "./config.js";
import { RateLimiter } from "./http/rate-limit.js";
import { Router } from "./http/router.js";
import { registerRoutes } from "./http/routes.js";
import type { HttpDeps } from "./http/server.js";
import { BoardService } from "./service/board-service.js";
import { openStore } from "./storage/index.js";
import { systemClock } from "./util/clock.js";
import type { Clock } from "./util/clock.js";
import { FetchTransport, WebhookDispatcher } from "./webhooks/index.js";
import type { Transport } from "./webhooks/index.js";

export interface App extends HttpDeps {
  service: BoardService;
  webhooks: WebhookDispatcher;
}

export function createApp(config: Config, overrides: { clock?: Clock; transport?: Transport } = {}): App {
  const clock = overrides.clock ?? systemClock;
  const store = openStore(config.storage);
  const transport = overrides.transport ?? new FetchTransport();
  const webhooks = new WebhookDispatcher(store, transport, clock, config.webhooks, ({ hookId, attempts, outcome }) => {
    if (outcome !== "delivered") console.warn(`webhook ${hookId}: ${outcome} after ${attempts} attempt(s)`);
  });
  const service = new BoardService({ store, clock, webhooks });
  return {
    service,
    webhooks,
    router: registerRoutes(new Router(), service, store),
    authenticator: new TokenAuthenticator(config.users),
    limiter: new RateLimiter(config.rateLimit, clock),
  };
}
