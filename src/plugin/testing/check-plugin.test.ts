import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { definePlugin, type Plugin } from '../define.ts';
import { GatewayError } from '../errors.ts';
import { replacing } from '../../formats/texts/replacing.ts';
import { BROKEN_PLUGINS, sourceOf } from './broken-plugins.testkit.ts';
import { findings } from './check-plugin.ts';
import { checkPlugin, createTarget } from './index.ts';

const none = { type: 'object', additionalProperties: false, properties: {} } as const;
const good = { name: 'good-one', level: 'request', options: none } as const;

const dir = mkdtempSync(join(tmpdir(), 'gatehouse-broken-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function load(source: string, name: string): Promise<Plugin> {
  const file = join(dir, `${name}.mjs`);
  writeFileSync(file, source);
  const module = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { readonly default: Plugin };
  return module.default;
}

describe('a broken plugin is found by its rule', () => {
  const api = new URL('../index.ts', import.meta.url).href;

  it.each(BROKEN_PLUGINS.filter((broken) => broken.process === undefined).map((broken, at) => ({ ...broken, at })))(
    '$kind: $rule',
    async ({ at, ...broken }) => {
      const found = await findings(await load(sourceOf(broken, api), `broken-${at}`));
      expect(found.map(({ rule }) => rule)).toContain(broken.rule);
      for (const { place, message, remedy } of found) expect([place, message, remedy]).not.toContain('');
    },
  );

  it('for more than 30 kinds, with those that end their process', () => {
    expect(BROKEN_PLUGINS.length).toBeGreaterThanOrEqual(30);
  });
});

describe('checkPlugin', () => {
  it.each<[string, Plugin]>([
    ['middleware', definePlugin({ ...good, create: () => async (_, next) => next() })],
    ['a step', definePlugin({ ...good, create: () => ({ step: async () => {} }) })],
    [
      'a plugin that refuses',
      definePlugin({
        ...good,
        create: () => async () => {
          throw new GatewayError('content_filter', 'No.');
        },
      }),
    ],
    [
      'a sleep that ends with the client',
      definePlugin({
        ...good,
        create:
          ({ host }) =>
          async ({ exchange }, next) => {
            await host.clock.sleep(60_000, exchange.cancellation);
            await next();
          },
      }),
    ],
    [
      'hooks that change texts',
      definePlugin({
        ...good,
        pure: true,
        reads: { request: 'texts', reply: 'texts' },
        create: () => ({
          request: (view) => view.texts().forEach((one) => one.replace(one.text.replaceAll('ada', 'A.'))),
          reply: () => replacing(/ada/g, 'A.', { longest: 3 }),
        }),
      }),
    ],
    [
      'a plugin with capabilities',
      definePlugin({
        ...good,
        level: 'entry',
        needs: ['keys', 'limits'],
        create:
          ({ host }) =>
          async ({ exchange }, next) => {
            exchange.caller = host.keys.find('key', '127.0.0.1');
            await next();
          },
      }),
    ],
    [
      'a plugin that reads the health of targets',
      definePlugin({
        ...good,
        needs: ['health', 'attempts'],
        create:
          ({ host }) =>
          async (ctx, next) => {
            const { config } = ctx.exchange;
            const target = createTarget();
            if (config && host.health.of(config, target).admits) return next();
            return host.attempts.run(ctx, target, { reason: 'only', fallsThrough: () => false });
          },
      }),
    ],
    [
      'hooks that read the attempt',
      definePlugin({
        ...good,
        level: 'attempt',
        reads: { reply: 'texts' },
        create: () => ({
          reply: (_, ctx) => ('attempt' in ctx && ctx.attempt ? replacing(/ada/g, 'A.', { longest: 3 }) : undefined),
        }),
      }),
    ],
  ])('reports nothing for %s', async (_, plugin) => {
    expect(await checkPlugin(plugin)).toEqual([]);
  });

  it('says the rule, the place, the fault and the remedy in one sentence', async () => {
    const plugin = definePlugin({ ...good, name: 'goodOne', create: () => async (_, next) => next() });
    expect(await checkPlugin(plugin)).toEqual([
      'name: name: the name "goodOne" is not in kebab-case. Write it in kebab-case: `mask-mail`.',
    ]);
  });

  it('creates a plugin with the options of the setup, and asks for those that are missing', async () => {
    const options = { ...none, properties: { a: { type: 'string', description: 'x' } }, required: ['a'] } as const;
    const plugin = definePlugin({ ...good, options, create: () => async (_, next) => next() });
    expect(await checkPlugin(plugin, { options: { a: 'b' } })).toEqual([]);
    expect(await checkPlugin(plugin)).toEqual([
      'options-given: options: the schema refuses those of this check: `a` is missing (x). Give options that the schema accepts: `options` of the check, or `--options FILE`.',
    ]);
  });

  it('splits the texts of the setup, too', async () => {
    const plugin = definePlugin({
      ...good,
      reads: { reply: 'texts' },
      create: () => ({ reply: () => (text: string) => text.replaceAll('falcon', 'x') }),
    });
    expect(await checkPlugin(plugin)).toEqual([]);
    expect(await checkPlugin(plugin, { texts: ['The falcon flies.'] })).toEqual([
      expect.stringMatching(/^same-text: .*one character at a time, it becomes "The falcon flies."/),
    ]);
  });
});
