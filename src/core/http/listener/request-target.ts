import type { IncomingMessage } from 'node:http';
import { withoutKey, withoutPathKey } from './keys-in-urls.ts';
import { compileRoutes, guessFormat, type HttpRoute } from './routes.ts';
import { oauthErrors, signInRefusal } from './sign-in.ts';
import type Koa from 'koa';
import { openaiChat } from '../../../formats/openai-chat/index.ts';
import { operations } from '../../operations/index.ts';
import { GatewayError } from '../../../plugin/index.ts';
import type { Routed } from '../gateway/request-scope.ts';

let compiled: readonly HttpRoute[] | undefined;

/** The routes of the data listener. Add-ons have added their operations before the first call. */
export const routes = (): readonly HttpRoute[] => (compiled ??= compileRoutes(operations));

/** The routes without parameters, by path and method. For most requests this lookup is enough. */
type FixedRoutes = ReadonlyMap<string, Readonly<Record<string, HttpRoute>>>;

let fixed: FixedRoutes | undefined;

function findFixed(): FixedRoutes {
  const fixed = new Map<string, Record<string, HttpRoute>>();
  for (const route of routes()) {
    if (route.template.includes('{')) continue;
    const byMethod = fixed.get(route.template) ?? Object.create(null);
    byMethod[route.method] = route;
    fixed.set(route.template, byMethod);
  }
  return fixed;
}

/** The route of a path without parameters and without a query; undefined for all other requests. */
export const fixedRoute = ({ url = '', method = '' }: Pick<IncomingMessage, 'url' | 'method'>): HttpRoute | undefined =>
  (fixed ??= findFixed()).get(url)?.[method];

/**
 * Normalises a request's target before anything reads it, so that no spelling can pass the router, a condition or a log
 * and not another. An operation matches its path in any case, with or without one trailing slash, in origin form and in
 * absolute form (RFC 9112, section 3.2.2); a fragment is dropped. Every other difference makes another path and a 404:
 * empty and dot segments, `;parameters`, and percent-encoded letters, which a proxy's rules could read differently.
 */
export function normaliseTarget(req: Pick<IncomingMessage, 'url' | 'method' | 'headers'>): void {
  const target = req.url ?? '/';
  if ((fixed ??= findFixed()).has(target)) return;
  const origin = encoded(originForm(target));
  const query = origin.indexOf('?');
  const path = withoutPathKey(query < 0 ? origin : origin.slice(0, query)).replace(BARE_MODEL, '/$1/models/');
  req.url = canonical(path, req.method) + (query < 0 ? '' : withoutKey(origin.slice(query + 1), req.headers));
}

/**
 * The AI SDK and LangChain take a model with a slash for a whole resource name and leave `models/` out:
 * `/v1beta/@slug/model:generateContent`. No other path begins so.
 */
const BARE_MODEL = /^\/(v1|v1alpha|v1beta1?)\/(?=(?:@|%40).*:[a-z]+\/?$)/i;

const SCHEME_AND_HOST = /^https?:\/\/[^/?#]*/i;

/** Always with a leading slash: Koa passes any other target to `url.parse`, which finds a path in `ftp://host/path`. */
function originForm(target: string): string {
  const whole = target.split('#', 1)[0]!;
  if (whole.startsWith('/')) return whole;
  const path = whole.replace(SCHEME_AND_HOST, '');
  return path.startsWith('/') ? path : `/${path}`;
}

/** Percent-encodes bytes that URLs do not allow. Node accepts them, and `url.parse`, Koa's fallback, trims some. */
const encoded = (target: string): string =>
  target.replaceAll(/[^!-~]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

/** The method chooses among routes of one path: `/v1/models/{+id}` and `/v1/models/{+model}:countTokens`. */
function canonical(path: string, method: string | undefined): string {
  const found = routes().filter((route) => route.path.test(path));
  const route = found.find((one) => one.method === method) ?? found[0];
  return route?.normalise(path) ?? path;
}

/** The reading of a request whose path or method no route serves. */
export function unserved(ctx: Koa.Context): Routed {
  const refused = signInRefusal(ctx.method, ctx.path);
  // RFC 6749, section 5.1.
  if (refused) ctx.set('cache-control', 'no-store');
  return { ...refusedAt(ctx, refused ?? refusal(ctx)), ...(refused && { format: oauthErrors }) };
}

/** The reading of a request that is refused whatever serves its path. */
export const refusedAt = (head: Parameters<typeof guessFormat>[1], refusal: GatewayError): Routed => ({
  operation: undefined,
  format: guessFormat(operations, head) ?? openaiChat,
  params: {},
  refusal,
});

function refusal(ctx: Koa.Context): GatewayError {
  const methods = methodsAt(ctx.path);
  if (methods.length === 0)
    return new GatewayError(
      'not_found',
      `There is no route ${ctx.method} ${ctx.path.slice(0, 200)}.${hintFor(ctx.path)}`,
    );
  // Codex goes to HTTP at once after a 426, and only after retries when the status is another one.
  if (ctx.get('upgrade').toLowerCase() === 'websocket')
    return new GatewayError('upgrade_required', `${ctx.path} has no WebSocket form: send ${methods.join(', ')}.`);
  ctx.set('allow', methods.join(', '));
  return new GatewayError('method_not_allowed', `${ctx.path} accepts ${methods.join(', ')}, not ${ctx.method}.`);
}

/** A route that serves GET also serves HEAD, without the content (RFC 9110, section 9.3.2). */
const methodsAt = (path: string): readonly string[] =>
  routes()
    .filter((route) => route.path.test(path))
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

/** Suggests a path: Anthropic's clients put `/v1` into their paths, OpenAI's expect it in their base URL. */
function hintFor(path: string): string {
  const plain = path.replace(/^\/{2,}/, '/');
  const served = [plain, plain.replace(/^\/v1(?=\/v1\/)/i, ''), `/v1${plain}`].find(
    (candidate) => methodsAt(candidate).length > 0,
  );
  return served === undefined ? '' : ` Did you mean ${served.slice(0, 200)}? Check the base URL of your client.`;
}
