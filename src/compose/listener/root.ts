import type Koa from 'koa';

/** No version: it would help those who look for old ones. */
const ROOT = JSON.stringify({
  name: 'gatehouse',
  message: 'An AI gateway: its APIs are below /v1.',
  docs: 'https://github.com/gatehouse-gateway/gatehouse#readme',
});
const HEADERS = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(ROOT) };

/** Answers `GET /`, which people open to see what listens there. It needs no key and shows no settings. */
export function answerRoot(ctx: Koa.Context, next: Koa.Next): Promise<unknown> | void {
  if (ctx.path !== '/' || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return next();
  ctx.respond = false;
  ctx.res.writeHead(200, HEADERS).end(ROOT);
}
