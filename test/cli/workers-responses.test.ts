import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { json, openaiReply, startUpstream } from '../support/upstream.ts';
import { Fleet } from './workers.testkit.ts';

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

describe('worker processes', () => {
  it('continue the responses of one another, which the primary keeps', { timeout: 120_000 }, async () => {
    const upstream = await startUpstream((_, res) => json(res, openaiReply('Hello.')));
    ended.push(() => upstream.close());
    const fleet = new Fleet({ upstream: upstream.url, gateway: { it: { provider: '@own' } } });
    ended.push(() => fleet.end());
    const { url } = await fleet.listens();
    // Each request on a connection of its own, so that another worker may take it.
    const defaultHeaders = { connection: 'close', 'x-gateway-config': 'it' };
    const client = new OpenAI({ apiKey: KEY, baseURL: `${url}/v1`, maxRetries: 0, defaultHeaders });
    let previous_response_id: string | null = null;
    const asked = 8;
    for (let at = 1; at <= asked; at += 1) {
      const input = `Question ${at}`;
      const stream = at % 2 === 0;
      const params = { model: 'm', input, previous_response_id };
      const response: OpenAI.Responses.Response = stream
        ? await client.responses.stream(params).finalResponse()
        : await client.responses.create(params);
      previous_response_id = response.id;
      expect(upstream.seen.at(-1)?.json['messages']).toHaveLength(2 * at - 1);
      expect(await client.responses.retrieve(response.id)).toMatchObject({ id: response.id });
    }
    const served = fleet.lines.flatMap(({ msg, worker }) => (msg === 'request completed' ? [worker] : []));
    expect(new Set(served).size).toBe(2);
  });
});
