import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import Koa from 'koa';
import { bindReplies } from '../../gateway/koa-reply.ts';
import { normaliseTarget, routes } from '../../compose/listener/request-target.ts';
import type { Routed } from '../../gateway/routed.ts';
import { unserved } from '../../compose/listener/unserved.ts';
import type { ExplainQuestion } from './question.ts';

const app = new Koa();
bindReplies(app);

/** Koa's context of a request that nobody has sent: its body is all there, and nobody is on the other side. */
export function inboundContext({
  method,
  path,
  headers,
  body,
  remoteAddress = '127.0.0.1',
}: ExplainQuestion): Koa.Context {
  // Never connected: it only stands where node:http looks for one.
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
  const req = Object.assign(new IncomingMessage(socket), { method, url: path });
  normaliseTarget(req);
  for (const [name, value] of Object.entries(headers)) req.headers[name.toLowerCase()] = value;
  req.push(body);
  req.push(null);
  const res = new ServerResponse(req);
  // Koa's own word for "nobody has answered yet".
  res.statusCode = 404;
  return Object.assign(app.createContext(req, res), { respond: false });
}

/** As the router of the data listener reads it, which takes HEAD where it takes GET. */
export function routed(ctx: Koa.Context): Routed {
  const asked = ctx.method === 'HEAD' ? 'GET' : ctx.method;
  const route = routes.find(({ method, path }) => method === asked && path.test(ctx.path));
  return route ? route.read(ctx) : unserved(ctx);
}
