import type { IncomingMessage } from 'node:http';
import { operations } from '../../operations/index.ts';
import { compileRoutes } from './routes.ts';

/** The routes of the data listener. */
export const routes = compileRoutes(operations);

/** The paths without parts, as operations spell them: most requests need no more than this look-up. */
const SPELLED = new Set(operations.map(({ path }) => path).filter((path) => !path.includes('{')));

/**
 * Gives a request's target its one spelling, before anything reads it. The router, conditions, plugins, logs and `explain` then read
 * the same path, and no spelling passes one of them and not the other.
 *
 * An operation is found at its path in any case, with one slash at its end or without, in origin form and in absolute form
 * (RFC 9112, section 3.2.2). All of these become the operation's own path. A fragment belongs to no request target (RFC 9112,
 * section 3.2) and is left out. Every other difference is another path, and a 404: empty and dot segments, `;parameters`, and
 * letters that are percent-encoded. A rule of a proxy before the gateway would read those spellings in its own way.
 */
export function normaliseTarget(req: Pick<IncomingMessage, 'url'>): void {
  const target = req.url ?? '/';
  if (SPELLED.has(target)) return;
  const origin = encoded(originForm(target));
  const query = origin.indexOf('?');
  const path = query < 0 ? origin : origin.slice(0, query);
  req.url = spelled(path) + (query < 0 ? '' : origin.slice(query));
}

const SCHEME_AND_HOST = /^https?:\/\/[^/?#]*/i;

/** Begins with a slash whatever was sent: Koa has `url.parse` read any other target, which finds a path in `ftp://host/path`, too. */
function originForm(target: string): string {
  const whole = target.split('#', 1)[0]!;
  if (whole.startsWith('/')) return whole;
  const path = whole.replace(SCHEME_AND_HOST, '');
  return path.startsWith('/') ? path : `/${path}`;
}

/** Bytes that URLs do not have. Node's parser lets them through, and `url.parse`, which Koa falls back to, trims some of them off. */
const encoded = (target: string): string =>
  target.replaceAll(/[^!-~]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

const spelled = (path: string): string => routes.find((route) => route.path.test(path))?.spell(path) ?? path;
