import { describe, expect, it } from 'vitest';
import type { Caller } from '../../src/plugin/index.ts';
import { createCaller, createConfig, createExchange, runPlugin } from '../../src/plugin/testing/index.ts';
import config from './index.ts';

const named = (id: string) => createConfig({ id });
const known = new Map(['prod', 'of-key', 'of-server'].map((id) => [id, named(id)]));

interface Setup {
  readonly headers?: Record<string, string>;
  readonly caller?: Partial<Caller>;
  readonly fallbackId?: string;
}

async function resolve({ headers = {}, caller = {}, fallbackId }: Setup) {
  const exchange = createExchange({
    headers,
    caller: createCaller({ keyId: 'k', ...caller }),
  });
  const steps: string[] = [];
  await runPlugin(config, {
    exchange,
    needs: {
      configs: {
        get: (id) => known.get(id),
        inline: (json, header) => createConfig({ id: 'inline', name: `${header}: ${json}` }),
        fallbackId,
        direct: named(''),
        run: async (chosen, ctx) => void steps.push(`run ${chosen.id} as ${ctx.exchange.config?.id}`),
      },
    },
    next: () => void steps.push('next'),
  });
  return { exchange, steps };
}

describe('config', () => {
  it.each<[string, Setup, string]>([
    [
      'the request’s own choice first',
      { headers: { 'x-gateway-config': 'prod' }, caller: { defaultConfig: 'of-key' }, fallbackId: 'of-server' },
      'prod',
    ],
    ['then the key’s default', { caller: { defaultConfig: 'of-key' }, fallbackId: 'of-server' }, 'of-key'],
    ['then the server’s', { fallbackId: 'of-server' }, 'of-server'],
    ['else what the request itself says', {}, ''],
    ['a choice the key is allowed', { headers: { 'x-gateway-config': 'prod' }, caller: { configs: ['prod'] } }, 'prod'],
  ])('takes %s', async (_, setup, id) => {
    expect((await resolve(setup)).exchange.config?.id).toBe(id);
  });

  it.each<[string, Setup, string, number]>([
    ['a config there is not', { headers: { 'x-gateway-config': 'prdo' } }, 'unknown_config', 400],
    [
      'a config the key may not use',
      { headers: { 'x-gateway-config': 'prod' }, caller: { configs: ['of-key'] } },
      'config_not_allowed',
      403,
    ],
    [
      'a config the key may not use, the same whether it exists or not',
      { headers: { 'x-gateway-config': 'prdo' }, caller: { configs: ['of-key'] } },
      'config_not_allowed',
      403,
    ],
    ['a path', { headers: { 'x-gateway-config': '../keys' } }, 'invalid_header', 400],
    ['nothing', { headers: { 'x-gateway-config': '' } }, 'invalid_header', 400],
    [
      'a config of its own from a key that may not send one',
      { headers: { 'x-gateway-config': '{"provider":"@a"}' }, caller: { inlineConfigs: false } },
      'config_not_allowed',
      403,
    ],
    [
      'a strictness that is no flag',
      { headers: { 'x-gateway-strict-open-ai-compliance': '1' } },
      'invalid_header',
      400,
    ],
    ['a flag that is none', { headers: { 'x-gateway-strict-params': 'yes' } }, 'invalid_header', 400],
  ])('refuses %s', async (_, setup, code, status) => {
    await expect(resolve(setup)).rejects.toMatchObject({ code, status });
  });

  it.each([
    [{}, undefined, false],
    [{ 'x-gateway-strict-open-ai-compliance': 'false' }, false, false],
    [{ 'x-gateway-strict-open-ai-compliance': 'TRUE' }, true, false],
    [{ 'x-gateway-strict-params': 'true' }, undefined, true],
  ])('reads the flags of %j', async (headers, strict, strictParams) => {
    expect((await resolve({ headers })).exchange).toMatchObject({ strict, strictParams });
  });

  it.each([['{"provider":"@a"}'], [' {"provider":"@a"}']])(
    'reads %j as a config of the request’s own',
    async (json) => {
      // Keys that are held to certain stored configs may still be given this.
      const caller = { inlineConfigs: true, configs: ['of-key'] };
      const { exchange, steps } = await resolve({ headers: { 'x-gateway-config': json }, caller });
      expect(exchange.config).toMatchObject({ id: 'inline', name: `x-gateway-config: ${json}` });
      expect(steps).toEqual(['run inline as inline', 'next']);
    },
  );

  it('runs the chosen config’s own chain, then goes on', async () => {
    const { steps } = await resolve({ headers: { 'x-gateway-config': 'prod' } });
    expect(steps).toEqual(['run prod as prod', 'next']);
  });
});
