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
 * Longer than common load balancers keep an idle connection (AWS ALB: 60 s). A proxy that closes first never sends a
 * request into a connection that this server is closing.
 */
const KEEP_ALIVE_MS = 75_000;

/** How often node:http checks for requests that arrive too slowly. */
const SLOW_CHECK_MS = 1000;

export interface DataServer {
  readonly server: Server;
  readonly pipelines: Pipelines;
}

/** The listener for applications. Routes each operation onto the request path. */
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
  // Client disconnects are not errors, and failures are logged where they occur, with their request id.
  app.silent = true;

  const answer = app.callback();
  const serve: Serve = (req, res) => {
    normaliseTarget(req);
    void answer(req, res);
  };
  const pipelines = new Pipelines(serve, () => inFlight.pipelined);
  const server = createServer(
    { maxHeaderSize: settings.limits.header, connectionsCheckingInterval: SLOW_CHECK_MS },
    (req, res) => pipelines.take(req, res),
  );
  answerRefusals(server, {
    format: openaiChat,
    clock,
    headerLimit: settings.limits.header,
    interrupt: (res, refused) => inFlight.interrupt(res, refused),
  });
  // No go-ahead here: the body plugin sends it once the request is admitted, so that a refused client sends no body in
  // vain.
  server.on('checkContinue', (req, res) => void server.emit('request', req, res));
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  applyLimits(server, settings);
  // No socket timeout, which would cut long streams: the request path has its own timeouts.
  server.timeout = 0;
  // No header count limit, beyond which Node drops headers silently: `limits.header` bounds them.
  server.maxHeadersCount = 0;
  return { server, pipelines };
}

/** Runs at the start and at each reload: node:http reads these fields when it uses them. */
export function applyLimits(server: Server, { limits }: Pick<ServerSettings, 'limits'>): void {
  server.requestTimeout = limits.bodyMs;
  server.headersTimeout = Math.min(limits.headerMs, limits.bodyMs);
}
