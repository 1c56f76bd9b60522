import { createServer, type Server } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import type { Clock } from '../../plugin/index.ts';
import type { ServerSettings } from '../../settings/compile/server-settings.ts';
import { answerRefusals } from './http-refusals.ts';
import type { InFlight } from '../../gateway/admission/in-flight.ts';
import { bindReplies } from '../../gateway/koa-reply.ts';
import { Pipelines, type Serve } from './pipelines.ts';
import type { createRequestPath } from '../../gateway/request-path.ts';
import { normaliseTarget, routes } from './request-target.ts';
import { unserved } from './unserved.ts';

/**
 * Longer than common load balancers keep an idle connection (AWS ALB: 60 s): a proxy that closes first never sends a request into a
 * connection that this server is closing.
 */
const KEEP_ALIVE_MS = 75_000;

/** How often node:http looks for requests that take too long to arrive. */
const SLOW_CHECK_MS = 1000;

export interface DataServer {
  readonly server: Server;
  readonly pipelines: Pipelines;
}

/** The listener applications reach: routes each operation onto the request path. */
export function createDataServer(
  handle: ReturnType<typeof createRequestPath>,
  settings: ServerSettings,
  { clock, inFlight }: { readonly clock: Clock; readonly inFlight: InFlight },
): DataServer {
  const app = new Koa();
  bindReplies(app);
  const router = new Router();
  for (const route of routes)
    router.register(route.path, [route.method.toLowerCase()], (ctx) => handle(ctx, route.read(ctx)), {
      pathAsRegExp: true,
    });
  app.use(router.routes());
  app.use((ctx) => handle(ctx, unserved(ctx)));
  // Clients that leave are no errors; failures are logged where they happen, with their request id.
  app.silent = true;

  const answer = app.callback();
  const serve: Serve = (req, res) => {
    normaliseTarget(req);
    void answer(req, res);
  };
  const pipelines = new Pipelines(serve, () => inFlight.pipelined);
  const server = createServer(
    {
      maxHeaderSize: settings.limits.header,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: SLOW_CHECK_MS,
    },
    (req, res) => pipelines.take(req, res),
  );
  answerRefusals(server, {
    format: openaiChat,
    clock,
    headerLimit: settings.limits.header,
    interrupt: (res, refused) => inFlight.interrupt(res, refused),
  });
  // The body plugin asks for the body, once the request may have one: a client that waits for a go-ahead sends none in vain.
  server.on('checkContinue', (req, res) => void server.emit('request', req, res));
  setTimeouts(server, settings);
  // Long streams must not be cut by a socket timeout nobody set: the timeouts of the request path rule.
  server.timeout = 0;
  // Node would drop those beyond a count, in silence; `limits.header` bounds them.
  server.maxHeadersCount = 0;
  return { server, pipelines };
}

/** node:http reads them anew at each of its checks, so a reload may change them. */
export function setTimeouts(server: Server, { limits }: Pick<ServerSettings, 'limits'>): void {
  server.requestTimeout = limits.bodyMs;
  server.headersTimeout = Math.min(limits.headerMs, limits.bodyMs);
}
