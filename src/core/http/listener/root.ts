import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';

const DOCS = 'https://github.com/gatehouse-gateway/gatehouse#readme';

/** The answer of a listener at `/`. It needs no key and shows no settings. @param links paths by what is there */
export const describeListener = (message: string, links: Readonly<Record<string, string>>): object => ({
  name: 'gatehouse',
  message,
  links,
  docs: DOCS,
});

/** The answer of a listener at `/health`, where probes of other gateways look. */
export const healthOf = (ready: boolean): { readonly status: number; readonly body: object } => ({
  status: ready ? 200 : 503,
  body: { status: ready ? 'ok' : 'not ready' },
});

const ROOT = describeListener('An AI gateway: its APIs are below /v1.', { health: '/health', models: '/v1/models' });

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

export function answerRoot(isReady: () => boolean): Koa.Middleware {
  return (ctx, next) => {
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (!isRead || (ctx.path !== '/' && ctx.path !== '/health')) return next();
    const { status, body } = ctx.path === '/' ? { status: 200, body: ROOT } : healthOf(isReady());
    const text = JSON.stringify(body);
    ctx.respond = false;
    // A body is not read: its connection closes, so that a slow one holds no socket.
    if (hasBody(ctx.req)) ctx.res.shouldKeepAlive = false;
    ctx.res
      .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      .end(text);
    return undefined;
  };
}
