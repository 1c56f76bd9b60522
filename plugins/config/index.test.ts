import { describe, expect, it } from 'vitest';
import type { Caller } from '../../src/core/kernel/index.ts';
import { createCaller, createConfig, createExchange, runPlugin } from '../../src/plugin/testing/index.ts';
import config from './index.ts';

const named = (id: string) => createConfig({ id });
const known = new Map(['prod', 'of-key', 'of-server'].map((id) => [id, named(id)]));

interface Setup {
  readonly headers?: Record<string, string>;
  readonly caller?: Partial<Caller>;
  readonly fallbackId?: string;
  /** Deadline of the chosen config. */
  readonly deadlineMs?: number;
}

async function resolve({ headers = {}, caller = {}, fallbackId, deadlineMs }: Setup) {
  const exchange = createExchange({
    headers,
    // The server's deadline: 900 s.
    startedAt: 1000,
    deadline: 901_000,
    caller: createCaller({ keyId: 'k', ...caller }),
  });
  const steps: string[] = [];
  const allowed: unknown[] = [];
  await runPlugin(config, {
    exchange,
    needs: {
      aliases: { isEmpty: true },
      configs: {
        get: (id) => known.get(id),
        ids: [...known.keys()],
        inline(json, header, may) {
          allowed.push(may);
          return createConfig({ id: 'inline', name: `${header}: ${json}`, deadlineMs });
        },
        fallbackId,
        direct: createConfig({ id: '', deadlineMs }),
        run: async (chosen, ctx) => void steps.push(`run ${chosen.id} as ${ctx.exchange.config?.id}`),
      },
    },
    next: () => void steps.push('next'),
  });
  return { exchange, steps, allowed };
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
    ['else the request’s own target', {}, ''],
    ['a choice the key is allowed', { headers: { 'x-gateway-config': 'prod' }, caller: { configs: ['prod'] } }, 'prod'],
  ])('takes %s', async (_, setup, id) => {
    expect((await resolve(setup)).exchange.config?.id).toBe(id);
  });

  it.each<[string, Setup, string, number]>([
    ['an unknown config', { headers: { 'x-gateway-config': 'prdo' } }, 'unknown_config', 400],
    [
      'a config the key may not use',
      { headers: { 'x-gateway-config': 'prod' }, caller: { configs: ['of-key'] } },
      'config_not_allowed',
      403,
    ],
    [
      'a config the key may not use, with the same error whether it exists or not',
      { headers: { 'x-gateway-config': 'prdo' }, caller: { configs: ['of-key'] } },
      'config_not_allowed',
      403,
    ],
    ['a path', { headers: { 'x-gateway-config': '../keys' } }, 'invalid_header', 400],
    ['nothing', { headers: { 'x-gateway-config': '' } }, 'invalid_header', 400],
    [
      'an inline config from a key that may not send one',
      { headers: { 'x-gateway-config': '{"provider":"@a"}' }, caller: { inlineConfigs: false } },
      'config_not_allowed',
      403,
    ],
    [
      'a compliance flag that is not a boolean',
      { headers: { 'x-gateway-strict-open-ai-compliance': '1' } },
      'invalid_header',
      400,
    ],
    ['a flag that is not a boolean', { headers: { 'x-gateway-strict-params': 'yes' } }, 'invalid_header', 400],
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

  it.each([['{"provider":"@a"}'], [' {"provider":"@a"}']])('reads %j as an inline config', async (json) => {
    // Keys restricted to certain stored configs may still have `inline_configs`.
    const caller = { inlineConfigs: true, configs: ['of-key'] };
    const { exchange, steps } = await resolve({ headers: { 'x-gateway-config': json }, caller });
    expect(exchange.config).toMatchObject({ id: 'inline', name: `x-gateway-config: ${json}` });
    expect(steps).toEqual(['run inline as inline', 'next']);
  });

  it.each<[string, Partial<Caller>, boolean]>([
    ['no plugins, where the key says nothing of them', {}, false],
    ['no plugins, where the key forbids them', { inlinePlugins: false }, false],
    ['plugins, where the key allows them', { inlinePlugins: true }, true],
  ])('lets an inline config name %s', async (_, own, plugins) => {
    const headers = { 'x-gateway-config': '{"provider":"@a"}' };
    const { allowed } = await resolve({ headers, caller: { inlineConfigs: true, ...own } });
    expect(allowed).toEqual([{ plugins }]);
  });

  describe('sets the deadline of a request:', () => {
    const asks = (ms: string): Record<string, string> => ({ 'x-gateway-request-timeout': ms });
    const inline = { caller: { inlineConfigs: true }, headers: { 'x-gateway-config': '{}' } };

    it.each<[string, Setup, number]>([
      ['the server’s', {}, 900_000],
      ['the config’s in its place', { deadlineMs: 60_000 }, 60_000],
      ['the config’s, also where that is longer', { deadlineMs: 3_600_000 }, 3_600_000],
      ['the caller’s, where that is shorter than the server’s', { headers: asks('250') }, 250],
      ['and than the config’s', { headers: asks('250'), deadlineMs: 60_000 }, 250],
      ['not the caller’s, where that is longer', { headers: asks('60001'), deadlineMs: 60_000 }, 60_000],
      ['an inline config’s, where that is shorter', { ...inline, deadlineMs: 500 }, 500],
      ['not an inline config’s, where that is longer: the caller wrote it', { ...inline, deadlineMs: 1e6 }, 900_000],
    ])('%s, from its arrival on', async (_, setup, ms) => {
      expect((await resolve(setup)).exchange.deadline).toBe(1000 + ms);
    });

    it.each(['0', '-1', '1.5', '1e3', '30s', ' ', '', '12345678901', '１'])('and refuses %j', async (ms) => {
      await expect(resolve({ headers: asks(ms) })).rejects.toMatchObject({
        code: 'invalid_header',
        status: 400,
        message: expect.stringContaining('x-gateway-request-timeout must be a whole number of milliseconds'),
      });
    });
  });

  it('runs the chosen config’s chain, then continues', async () => {
    const { steps } = await resolve({ headers: { 'x-gateway-config': 'prod' } });
    expect(steps).toEqual(['run prod as prod', 'next']);
  });
});
