import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { normaliseTarget } from './request-target.ts';

/** A request as the router, plugins and logs see it. */
function seen(url: string, headers: IncomingHttpHeaders = {}) {
  const req = { method: 'POST', url, headers: { ...headers } };
  normaliseTarget(req);
  return { url: req.url, key: req.headers['x-goog-api-key'] };
}

describe('the key in a path', () => {
  it.each([
    ['/v1/chat/completions;key=K', '/v1/chat/completions;key='],
    ['/v1/chat/completions;KEY=K/L?a=b', '/v1/chat/completions;key=?a=b'],
    ['/v1/chat/completions%3bk%65y%3DK;x=1', '/v1/chat/completions;key='],
    ['/v1beta/models/m;key=K:L:generateContent', '/v1beta/models/m;key=:generateContent'],
    ['/v1beta/models/@openai%2Fgpt-4o;key=K:generateContent', '/v1beta/models/@openai/gpt-4o;key=:generateContent'],
    ['/v1beta/@a/m;key=K:generateContent/', '/v1beta/models/@a/m;key=:generateContent'],
    ['/nowhere;a=b;key=K', '/nowhere;a=b;key='],
    ['/v1beta/models/m%253Bkey%253DK:generateContent', '/v1beta/models/m;key=:generateContent'],
    ['/v1/chat/completions%25253b%256bey=K', '/v1/chat/completions;key='],
  ])('of %s is cut: %s', (url, rest) => {
    expect(seen(url).url).toBe(rest);
  });

  it.each(['/v1/models/a;b=c', '/v1/models/monkey=a', '/v1/models/a;keys=b', '/v1/models/a%2525b'])(
    'is not in %s, which stays',
    (url) => {
      expect(seen(url).url).toBe(url);
    },
  );

  it('of any length is cut in time that grows with the length', () => {
    const started = process.threadCpuUsage();
    seen(`/v1/x;key=${':a'.repeat(50_000)}`);
    seen(`/v1/x${';key='.repeat(20_000)}`);
    seen(`/v1/x${';%25'.repeat(20_000)}%${'25'.repeat(50_000)}`);
    // Processor time in µs, which a busy machine does not stretch. Time that grows with the square would be minutes.
    expect(process.threadCpuUsage(started).user).toBeLessThan(3_000_000);
  });
});

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
