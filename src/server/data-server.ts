import { createServer, type Server } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import { operations } from '../operations/index.ts';
import { GatewayError } from '../plugin/index.ts';
import type { ServerSettings } from '../settings/server-settings.ts';
import { bindReplies } from './koa-reply.ts';
import type { createRequestPath } from './request-path.ts';

/** An idle client connection is kept longer than the load balancers before it keep theirs (ops.md 4.2). */
const KEEP_ALIVE_MS = 75_000;

/** The listener applications reach: routes each operation onto the request path. */
export function createDataServer(handle: ReturnType<typeof createRequestPath>, settings: ServerSettings): Server {
  const app = new Koa();
  bindReplies(app);
  const router = new Router();
  for (const operation of operations)
    router.register(operation.path, [operation.method.toLowerCase()], (ctx) => handle(ctx, operation));
  app.use(router.routes());
  app.use((ctx) => handle(ctx, undefined, refusal(ctx)));
  // Clients that leave are no errors; failures are logged where they happen, with their request id.
  app.silent = true;

  const answer = app.callback();
  const server = createServer(
    { maxHeaderSize: settings.limits.header, keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: settings.timeouts.total },
    (req, res) => void answer(req, res),
  );
  server.headersTimeout = Math.min(60_000, settings.timeouts.total);
  // Long streams must not be cut by a socket timeout nobody set: the timeouts of the request path rule.
  server.timeout = 0;
  return server;
}

function refusal(ctx: Koa.Context): GatewayError {
  const methods = operations.filter(({ path }) => path === ctx.path).map(({ method }) => method);
  if (methods.length === 0)
    return new GatewayError('not_found', `There is no route ${ctx.method} ${ctx.path.slice(0, 200)}.`);
  ctx.set('allow', methods.join(', '));
  return new GatewayError('method_not_allowed', `${ctx.path} takes ${methods.join(', ')}, not ${ctx.method}.`);
}
