import type { IncomingMessage } from 'node:http';
import { operations } from '../../operations/index.ts';
import { compileRoutes } from './routes.ts';

/** The routes of the data listener. */
export const routes = compileRoutes(operations);

/** The operations' paths without parameters. For most requests this lookup is enough. */
const CANONICAL = new Set(operations.map(({ path }) => path).filter((path) => !path.includes('{')));

/**
 * Normalises a request's target before anything reads it. The router, conditions, plugins, logs and `explain` then read
 * the same path, so no spelling can pass one of them and not another.
 *
 * An operation matches its path in any case, with or without one trailing slash, in origin form and in absolute form
 * (RFC 9112, section 3.2.2). All of these become the operation's own path. A fragment is not part of a request target
 * (RFC 9112, section 3.2) and is dropped. Every other difference makes another path and a 404: empty and dot segments,
 * `;parameters`, and percent-encoded letters. A proxy's rules could read such spellings differently.
 */
export function normaliseTarget(req: Pick<IncomingMessage, 'url'>): void {
  const target = req.url ?? '/';
  if (CANONICAL.has(target)) return;
  const origin = encoded(originForm(target));
  const query = origin.indexOf('?');
  const path = query < 0 ? origin : origin.slice(0, query);
  req.url = canonical(path) + (query < 0 ? '' : origin.slice(query));
}

const SCHEME_AND_HOST = /^https?:\/\/[^/?#]*/i;

/**
 * The path and query, always with a leading slash: Koa passes any other target to `url.parse`, which also finds a path
 * in `ftp://host/path`.
 */
function originForm(target: string): string {
  const whole = target.split('#', 1)[0]!;
  if (whole.startsWith('/')) return whole;
  const path = whole.replace(SCHEME_AND_HOST, '');
  return path.startsWith('/') ? path : `/${path}`;
}

/**
 * Percent-encodes bytes that are not allowed in URLs. Node's parser accepts them, and `url.parse`, which Koa falls back
 * to, trims some of them.
 */
const encoded = (target: string): string =>
  target.replaceAll(/[^!-~]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

const canonical = (path: string): string => routes.find((route) => route.path.test(path))?.normalise(path) ?? path;
