import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import Koa from 'koa';
import { bindReplies } from '../../../core/http/gateway/koa-reply.ts';
import { normaliseTarget, routes, unserved } from '../../../core/http/listener/request-target.ts';
import { formOfFields } from '../../../core/dry-run/form-of-fields.ts';
import type { Routed } from '../../../core/http/gateway/request-scope.ts';
import type { ExplainQuestion } from './question.ts';

const app = new Koa();
bindReplies(app);

/** A Koa context for a request without a connection; its body is complete. */
export function inboundContext({
  method,
  path,
  headers,
  body,
  files,
  remoteAddress = '127.0.0.1',
}: ExplainQuestion): Koa.Context {
  // Never connected; node:http requires a socket.
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
  const req = Object.assign(new IncomingMessage(socket), { method, url: path });
  for (const [name, value] of Object.entries(headers)) req.headers[name.toLowerCase()] = value;
  normaliseTarget(req);
  const res = new ServerResponse(req);
  // Koa's initial status of an unanswered request.
  res.statusCode = 404;
  const ctx = Object.assign(app.createContext(req, res), { respond: false });
  const form = formOfFields(body, { operation: routed(ctx).operation, type: req.headers['content-type'], files });
  Object.assign(req.headers, form?.headers);
  req.push(form?.body ?? body);
  req.push(null);
  return ctx;
}

/** Routes like the data listener, which treats HEAD as GET. */
export function routed(ctx: Koa.Context): Routed {
  const routedMethod = ctx.method === 'HEAD' ? 'GET' : ctx.method;
  const route = routes().find(({ method, path }) => method === routedMethod && path.test(ctx.path));
  return route ? route.read(ctx) : unserved(ctx);
}
