import { Agent, request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { KEY, until } from '../support/gateway.ts';
import { json, openaiReply, startUpstream } from '../support/upstream.ts';
import { Fleet } from './workers.testkit.ts';

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

const BODY = JSON.stringify({ model: '@own/m', messages: [{ role: 'user', content: 'hi' }] });
const HEADERS = { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'content-length': BODY.length };

/** What became of a request: a status, or the code of its connection's error. */
const ask = (url: string, agent: Agent): Promise<number | string> =>
  new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void => resolve(error.code ?? error.message);
    const sent = request(`${url}/v1/chat/completions`, { method: 'POST', agent, headers: HEADERS }, (reply) => {
      reply
        .resume()
        .on('end', () => resolve(reply.statusCode!))
        .on('error', fail);
    });
    sent.on('error', fail).end(BODY);
  });

/** Clients that send one request after the other, until their connections are refused. */
function load(url: string, counts: { readonly keepAlive: number; readonly newEachTime: number }) {
  const outcomes = new Map<number | string, number>();
  const client = async (agentOf: () => Agent): Promise<void> => {
    for (let outcome: number | string = 200; outcome !== 'ECONNREFUSED';) {
      outcome = await ask(url, agentOf());
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      // Without a pause, a client that is cut would ask without end.
      if (outcome !== 200) await new Promise(setImmediate);
    }
  };
  const keeping = Array.from({ length: counts.keepAlive }, () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    return client(() => agent);
  });
  const renewing = Array.from({ length: counts.newEachTime }, () => client(() => new Agent()));
  return { outcomes, over: Promise.all([...keeping, ...renewing]) };
}

describe.each(['none', '2'])('with --workers %s', (workers) => {
  it.each([1, 2, 3])(
    'no request is lost while the gateway drains under load (run %d)',
    async () => {
      const upstream = await startUpstream((_, res) => json(res, openaiReply('done')));
      ended.push(() => upstream.close());
      const server = { drain: { delay: '500ms', timeout: '20s' }, telemetry: { log: { access: 'off' } } };
      const fleet = new Fleet({ upstream: upstream.url, server, workers });
      ended.push(() => fleet.end());
      const { url } = await fleet.listens();
      const { outcomes, over } = load(url, { keepAlive: 15, newEachTime: 15 });
      await until(() => (outcomes.get(200) ?? 0) > 60, 'the load has begun');
      fleet.signal('SIGTERM');
      await over;
      expect(await fleet.exited).toBe(0);
      expect([...outcomes.keys()].toSorted()).toEqual([200, 'ECONNREFUSED']);
      expect(outcomes.get('ECONNREFUSED')).toBe(30);
    },
    60_000,
  );
});
