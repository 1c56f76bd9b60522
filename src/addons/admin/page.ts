import type { IncomingMessage } from 'node:http';
import type { Console } from '../../core/process/console-port.ts';
import type { AdminAnswer } from './api/answer.ts';

const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

export const acceptsGzip = ({ headers }: IncomingMessage): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/i.test(headers['accept-encoding']?.toString() ?? '');

/** The path of a file of the console, below `/ui/`; `..` leads there. Undefined: another path. Programs get JSON at `/`. */
export function pagePath(path: string, { headers }: IncomingMessage): string | undefined {
  if (path === '/ui' || (path === '/' && /\btext\/html\b/i.test(headers.accept ?? ''))) return '..';
  return path.startsWith('/ui/') ? path.slice('/ui/'.length) : undefined;
}

/** Undefined: there is no such file. */
export async function answerPage(
  path: string,
  request: IncomingMessage,
  console: Console,
): Promise<AdminAnswer | undefined> {
  // Relative: a proxy may have the listener below a path.
  if (path === '..') return { status: 302, body: undefined, headers: { location: './ui/' } };
  const file = await console.page(path);
  if (!file) return undefined;
  const { type, bytes, gzip, etag, immutable } = file;
  const headers = {
    ...HEADERS,
    etag,
    vary: 'accept-encoding',
    'cache-control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
  if (request.headers['if-none-match'] === etag) return { status: 304, body: undefined, headers };
  const small = acceptsGzip(request) ? gzip : undefined;
  return {
    status: 200,
    body: small ?? bytes,
    headers: { ...headers, 'content-type': type, ...(small && { 'content-encoding': 'gzip' }) },
  };
}
