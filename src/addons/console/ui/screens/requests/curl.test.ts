import { expect, it } from 'vitest';
import type { ShownExplanation, ShownRequest } from '../../api/shapes.ts';
import { curlOfRecord } from './curl.ts';

const REQUEST = {
  path: '/v1/messages',
  alias: 'fast',
  config: { id: 'production', hash: '1' },
  metadata: { app: "it's" },
  attempts: [],
} as unknown as ShownRequest;

it('A record becomes a command without its key, with the body where it is kept', () => {
  expect(curlOfRecord('http://gateway', REQUEST, undefined)).toBe(
    [
      "curl 'http://gateway/v1/messages'",
      `  -H "x-gateway-api-key: $GATEWAY_KEY"`,
      `  -H 'content-type: application/json'`,
      "  -H 'x-gateway-config: production'",
      String.raw`  -H 'x-gateway-metadata: {"app":"it'\''s"}'`,
      `  -d '{"messages":[{"role":"user","content":"TEXT"}],"model":"fast"}'`,
    ].join(' \\\n'),
  );
  const kept = {
    request: { model: 'asked' },
    config: { found: 'key' },
    targets: [{ body: { model: 'sent', messages: ['[text, 5 characters]'], stream: true } }],
  } as unknown as ShownExplanation;
  const text = curlOfRecord('http://gateway', REQUEST, kept);
  expect(text).toContain('curl -N ');
  expect(text).toContain(`-d '{"model":"asked","messages":["[text, 5 characters]"],"stream":true}'`);
  expect(text).not.toContain('x-gateway-config');
});
