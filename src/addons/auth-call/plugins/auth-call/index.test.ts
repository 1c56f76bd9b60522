import { expect, it } from 'vitest';
import { Secret } from '../../../../plugin/index.ts';
import { createContext, createExchange } from '../../../../plugin/testing/index.ts';
import { makePlugin } from '../../../../plugin/testing/run-plugin.ts';
import authCall from './index.ts';

const OPTIONS = {
  url: 'https://auth.example.com/',
  secret: new Secret(`whsec_${Buffer.alloc(32, 7).toString('base64')}`),
};
const ANN = 'token of ann';

/** A service that knows one credential, for five minutes or for no time, and what it was asked. */
async function withService({ ttl, hangs = () => false }: { ttl: number; hangs?: (credential: string) => boolean }) {
  const asked: string[] = [];
  const { middleware } = await makePlugin(authCall, {
    options: OPTIONS,
    needs: { keys: {} },
    async fetch(_, { body } = {}) {
      const { credential } = JSON.parse(String(body)) as { credential: string };
      asked.push(credential);
      if (hangs(credential)) await new Promise(() => {});
      const isKnown = credential === ANN;
      const text = JSON.stringify({ ...(isKnown && { caller: { id: 'ann' } }), ttl });
      return { status: isKnown ? 200 : 401, headers: {}, body: Buffer.from(text), text: () => text, json: () => null };
    },
  });
  const ask = async (credential: string): Promise<string> => {
    const exchange = createExchange({ headers: { authorization: `Bearer ${credential}` }, caller: undefined });
    await middleware(createContext(exchange), () => Promise.resolve());
    return exchange.caller!.keyId;
  };
  return { ask, asked };
}

it('The answer about a caller is kept, however many random credentials are refused', async () => {
  const { ask, asked } = await withService({ ttl: 300 });
  await ask(ANN);
  // One more than answers are kept.
  for (let at = 0; at <= 10_000; at += 1) await ask(`random ${at}`).catch(() => {});
  expect(await ask(ANN)).toBe('ann');
  await expect(ask('random 10000')).rejects.toMatchObject({ code: 'invalid_api_key' });
  expect([asked.length, asked.filter((one) => one === ANN)]).toEqual([10_002, [ANN]]);
});

it('A caller that the service has known is asked about while random credentials fill the line', async () => {
  const { ask } = await withService({ ttl: 0, hangs: (credential) => credential !== ANN });
  await ask(ANN);
  const all = Array.from({ length: 200 }, (_, at) => ask(`random ${at}`).catch((error: unknown) => error));
  expect(await all.at(-1)).toMatchObject({ code: 'busy' });
  expect(await ask(ANN)).toBe('ann');
});
