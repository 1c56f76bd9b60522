import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { normaliseTarget } from './request-target.ts';

/** A request as the router, plugins and logs see it. */
function seen(url: string, headers: IncomingHttpHeaders = {}) {
  const req = { method: 'POST', url, headers: { ...headers } };
  normaliseTarget(req);
  return { url: req.url, key: req.headers['x-goog-api-key'] };
}

describe('the key in a query', () => {
  const path = '/v1beta/models/m:generateContent';

  it.each([
    [`${path}?key=K`, path, 'K'],
    [`${path}?alt=sse&key=K`, `${path}?alt=sse`, 'K'],
    [`${path}?key=K&alt=sse&x=%20`, `${path}?alt=sse&x=%20`, 'K'],
    [`${path}?k%65y=a%2Bb`, path, 'a+b'],
    [`${path}?%6b%45%79=K`, path, 'K'],
    [`${path}?KEY=K&a&&=b`, `${path}?a&&=b`, 'K'],
    [`${path}?key=A&key=B`, path, 'A, B'],
    ['/v1/chat/completions?key=K', '/v1/chat/completions', 'K'],
    ['/nowhere?key=K#key=L', '/nowhere', 'K'],
  ])('of %s leaves %s and becomes a header', (url, rest, key) => {
    expect(seen(url)).toEqual({ url: rest, key });
  });

  it.each([`${path}?monkey=1`, `${path}?keys=1`, `${path}?alt=sse`, `${path}?`, `${path}?a=key`, `${path}?%zz=key`])(
    'is not in %s, which stays',
    (url) => {
      expect(seen(url)).toEqual({ url, key: undefined });
    },
  );

  it('without a value is dropped, and one beside a header is joined to it', () => {
    expect(seen(`${path}?key=`)).toEqual({ url: path, key: undefined });
    expect(seen(`${path}?key=B`, { 'x-goog-api-key': 'A' })).toEqual({ url: path, key: 'A, B' });
  });
});
