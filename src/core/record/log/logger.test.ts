import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStillClock } from '../exchange.testkit.ts';
import { createLogger } from './logger.ts';
import { scrub } from '../scrub.ts';
import { runs } from '../../../../test/support/effort.ts';

function logged(write: (log: ReturnType<typeof createLogger>) => void): string {
  let text = '';
  write(
    createLogger({ level: 'info', clock: createStillClock(), destination: { write: (line) => void (text += line) } }),
  );
  return text;
}

describe('the logger', () => {
  it('writes one JSON line with level, time and message', () => {
    expect(logged((log) => log.info({ a: 1 }, 'hello'))).toBe(
      '{"level":"info","time":"2026-01-01T00:00:00.000Z","a":1,"msg":"hello"}\n',
    );
  });

  it.each([
    [{ authorization: 'canary' }],
    [
      {
        headers: {
          authorization: 'canary',
          'x-api-key': 'canary',
          'x-gateway-api-key': 'canary',
          'x-goog-api-key': 'canary',
          'x-portkey-api-key': 'canary',
          'X-Acme-Api-Key': 'canary',
          cookie: 'canary',
        },
      },
    ],
    [{ request: { headers: { 'proxy-authorization': 'canary', 'set-cookie': ['canary'] } } }],
    [
      {
        credentials: { private_key: 'canary', client_secret: 'canary' },
        token: { access_token: 'canary', refresh_token: 'canary', assertion: 'canary' },
      },
    ],
    [{ 'x-api-key': 'canary', entry: { api_key: 'canary', apiKey: 'canary' } }],
    [{ a: { b: { c: { d: { Authorization: 'ca"nary canary', 'Set-Cookie': ['a]canary', 'canary'] } } } } }],
    [{ body: JSON.stringify({ client_secret: 'canary' }) }],
  ])('hides the values of credential fields: %j', (fields) => {
    const line = logged((log) => log.info(fields, 'x'));
    expect(line).not.toContain('canary');
    expect(line).toContain('[secret]');
  });

  it.each([
    'Authorization: Bearer abcdefghijklmnop.qrst/uv==',
    'sk-ant-REDACTED',
    'sk-proj-abcdefghijklmnop',
    'AIzaSyA1234567890abcdefghijklmnopqrstuvw',
    'ya29.a0AfH6SMBxxxxxxxx',
    '1//0abcdefghijklmnopqrstuvwxyz',
    'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJhIn0.c2lnbmF0dXJl',
    '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\n-----END PRIVATE KEY-----\n',
    '-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADAN',
  ])('hides credential formats in any text: %j', (secret) => {
    const line = logged((log) => log.error({ err: new Error(`refused ${secret} here`) }, `said ${secret}`));
    const parsed = JSON.parse(line) as { err: { message: string }; msg: string };
    const core = JSON.stringify(secret.replace('Authorization: Bearer ', '')).slice(1, -1);
    expect(line).not.toContain(core);
    expect(parsed.err.message).toContain('[secret]');
    expect(parsed.msg).toContain('[secret]');
  });

  it('writes valid JSON for any line', () => {
    const pieces = [
      '"',
      '\\',
      '\n',
      ']',
      '-----BEGIN PRIVATE KEY-----',
      '-----END PRIVATE KEY-----',
      'Bearer ',
      '"authorization":',
      'sk-',
      'abcdefghijklmnop',
      '-',
      ' ',
    ];
    const text = fc.array(fc.constantFrom(...pieces)).map((parts) => parts.join(''));
    const value = fc.oneof(text, fc.array(text), fc.record({ authorization: text, cookie: fc.array(text) }));
    fc.assert(
      fc.property(
        value,
        value,
        (a, b) => void JSON.parse(scrub(JSON.stringify({ a, 'x-api-key': b, c: JSON.stringify(a) }))),
      ),
      { numRuns: runs(1000) },
    );
  });

  it.each([
    'request_id req-1',
    'gemini-2.5-pro',
    'task-force',
    'bearer of news',
    'text/event-stream',
    '0af7651916cd43dd8448eb211c80319c',
  ])('does not change plain words: %s', (text) => {
    expect(logged((log) => log.info(text))).toContain(text);
  });
});
