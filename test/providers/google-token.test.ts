import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secret } from '../../src/plugin/index.ts';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import type { Problem } from '../../src/core/kernel/report.ts';
import { serviceAccountJson } from '../../src/core/providers/setup.testkit.ts';
import { vertexAi } from '../../src/core/providers/vertex-ai/index.ts';
import { MemoryTokenStore } from '../../src/core/memory/tokens.ts';
import { createUpstream } from '../../src/core/upstream/index.ts';

// The token exchange through the real way out of the gateway, to a token endpoint on loopback.

const upstream = createUpstream({ clock: systemClock });
let endpoint: Server;
let calls: { readonly type: string | undefined; readonly body: string }[] = [];
let answerWith: { status: number; body: string } = { status: 200, body: '' };

beforeAll(async () => {
  endpoint = createServer((request, response) => {
    let body = '';
    request.on('data', (bytes: Buffer) => (body += bytes.toString()));
    request.on('end', () => {
      calls.push({ type: request.headers['content-type'], body });
      response.writeHead(answerWith.status, { 'content-type': 'application/json' }).end(answerWith.body);
    });
  });
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await upstream.close();
  await new Promise((resolve) => endpoint.close(resolve));
});

/** @param listed whether the operator has put the endpoint on the list */
function create(answer: { status: number; body: string }, listed = true) {
  calls = [];
  answerWith = answer;
  // A listening TCP server has an AddressInfo.
  const uri = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/token`;
  const problems: Problem[] = [];
  const entry = vertexAi.create(
    {
      slug: 'vertex-prod',
      provider: 'vertex-ai',
      region: 'global',
      service_account: new Secret(serviceAccountJson({ token_uri: uri })),
    },
    {
      upstreamExchange: upstream.exchange,
      clock: systemClock,
      tokens: new MemoryTokenStore(systemClock),
      env: {},
      tokenUris: new Set(listed ? [uri] : []),
      tokenFetched: () => {},
      report: (problem) => problems.push(problem),
    },
  );
  return { entry, problems };
}

const NOBODY = { upstreamToken: undefined };

describe('a Google token', () => {
  test('for 200 requests at once is one call on the wire', async () => {
    const { entry } = create({
      status: 200,
      body: '{"access_token":"ya29.x","expires_in":3599,"token_type":"Bearer"}',
    });
    const headers = await Promise.all(Array.from({ length: 200 }, () => entry?.authorize(NOBODY)));
    expect(headers.every((each) => each?.['authorization'] === 'Bearer ya29.x')).toBe(true);
    expect(calls).toHaveLength(1);
    expect(calls[0]?.type).toBe('application/x-www-form-urlencoded');
    expect(new URLSearchParams(calls[0]?.body).get('assertion')?.split('.')).toHaveLength(3);
  });

  test('that is refused is a 502 with the reason, for 200 requests at once too', async () => {
    const { entry } = create({
      status: 400,
      body: '{"error":"invalid_grant","error_description":"Invalid JWT Signature."}',
    });
    const outcomes = await Promise.allSettled(Array.from({ length: 200 }, async () => entry?.authorize(NOBODY)));
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: {
          code: 'credentials_failed',
          message:
            'No Google token for the catalog entry @vertex-prod: the token endpoint answered 400: invalid_grant: Invalid JWT Signature.',
        },
      });
    }
    expect(calls).toHaveLength(1);
  });

  test('is not asked for at an endpoint the operator has not listed', () => {
    const { entry, problems } = create({ status: 200, body: '' }, false);
    expect(entry).toBeUndefined();
    expect(problems).toHaveLength(1);
    expect(calls).toHaveLength(0);
  });
});
