import { describe, expect, it } from 'vitest';
import { builtinPlugins } from '../../../../plugins/index.ts';
import { definePlugin, nearest } from '../../kernel/index.ts';
import type { PluginLevel } from '../../../plugin/index.ts';
import type { Problem } from '../../kernel/report.ts';
import type { ChainChanges } from './chain-changes.ts';
import type { ChainItem } from './compile.ts';
import { inherited } from './list-part.ts';
import { divideList } from './plugin-list.ts';
import { PluginRegistry } from './registry.ts';

const external = (name: string, level: PluginLevel, more: { needs?: ['attempts']; provides?: string[] } = {}) =>
  definePlugin({
    name,
    level,
    options: { type: 'object' },
    create: () => (_, next) => next(),
    ...more,
  });

const { registry } = new PluginRegistry(builtinPlugins).extend([
  external('guard', 'attempt'),
  external('stamp', 'request'),
  external('own-route', 'request', { needs: ['attempts'] }),
  external('canned', 'request', { provides: ['reply'] }),
]);

const DEFAULTS = { request: ['metadata', 'route'], attempt: ['override', 'cache', 'transform', 'retry', 'send'] };

const inServer = (level: string, items: readonly ChainItem[]) =>
  inherited({ items, indexes: [...items.keys()] }, { file: 'server.yaml', path: ['chains', level] });

function divide(
  items: readonly ChainItem[] | ChainChanges,
  of: 'config' | 'target' = 'config',
  chains: { readonly request: readonly ChainItem[]; readonly attempt: readonly ChainItem[] } = DEFAULTS,
) {
  const problems: Problem[] = [];
  const around = { request: inServer('request', chains.request), attempt: inServer('attempt', chains.attempt) };
  const written = { items, file: 'gateway/own.yaml', path: ['plugins'], of, around };
  const setup = { registry, nearest, chains: around };
  const list = divideList(written, (one) => void problems.push(one), setup);
  return { ...list, problems };
}

const messages = (items: readonly ChainItem[] | ChainChanges, of?: 'target'): readonly string[] =>
  divide(items, of).problems.map(
    ({ path, message, severity = 'error' }) => `${path.join('.')} ${severity}: ${message}`,
  );

describe('a flat list of plugins', () => {
  it('without attempt plugins names the request chain only', () => {
    expect(divide(['metadata', 'stamp', 'route'])).toEqual({
      request: { items: ['metadata', 'stamp', 'route'], indexes: [0, 1, 2] },
      attempt: undefined,
      problems: [],
    });
  });

  it('without request plugins names the attempt chain only', () => {
    const items = ['override', 'guard', 'transform', 'send'];
    expect(divide(items)).toEqual({
      request: undefined,
      attempt: { items, indexes: [0, 1, 2, 3] },
      problems: [],
    });
    expect(divide(items, 'target').attempt?.items).toEqual(items);
  });

  it('gives each plugin to the chain of its level, in order and with its index', () => {
    const guard = { plugin: 'guard', name: 'strict', options: { words: ['x'] } };
    expect(divide(['transform', 'metadata', guard, 'route', 'send'])).toEqual({
      request: { items: ['metadata', 'route'], indexes: [1, 3] },
      attempt: { items: ['transform', guard, 'send'], indexes: [0, 2, 4] },
      problems: [],
    });
  });

  it('that is empty names no chain', () => {
    expect(divide([])).toEqual({ request: undefined, attempt: undefined, problems: [] });
  });

  it.each([
    ['a plugin that routes', ['own-route']],
    ['a plugin that replies', ['canned']],
  ])('may have %s in place of `route`', (_, items) => {
    expect(divide(items).problems).toEqual([]);
  });
});

describe('an entry of server.yaml with `always: true`', () => {
  const kept = { plugin: 'stamp', always: true, options: { color: 'red' } };
  const other = { plugin: 'stamp', name: 'second', always: true };
  const guard = { plugin: 'guard', always: true };
  const shown = (items: readonly ChainItem[] | undefined) =>
    items?.map((item) => (typeof item === 'string' ? item : (item.name ?? item.plugin)));

  it.each<[string, readonly ChainItem[], readonly ChainItem[], readonly string[]]>([
    [
      'before the next plugin that the list has',
      [kept, 'prompts', 'metadata', 'route'],
      ['metadata', 'route'],
      ['stamp', 'metadata', 'route'],
    ],
    [
      'at the latest before `route`',
      ['metadata', kept, 'route'],
      ['metadata', 'route'],
      ['metadata', 'stamp', 'route'],
    ],
    [
      'before `route` where no later plugin is in the list',
      ['metadata', 'route', kept],
      ['metadata', 'route'],
      ['metadata', 'stamp', 'route'],
    ],
    [
      'before a plugin that routes in place of `route`',
      [kept, 'metadata', 'route'],
      ['own-route'],
      ['stamp', 'own-route'],
    ],
    [
      'before a plugin that replies',
      [kept, 'metadata', 'route'],
      ['canned', 'metadata', 'route'],
      ['stamp', 'canned', 'metadata', 'route'],
    ],
    [
      'first in a list that says no plugin which replies',
      ['prompts', kept, 'route'],
      ['metadata'],
      ['stamp', 'metadata'],
    ],
    ['in the order of server.yaml', [kept, 'metadata', other, 'route'], ['route'], ['stamp', 'second', 'route']],
    [
      'at its own place where the list names it',
      [kept, 'metadata', 'route'],
      ['metadata', 'stamp', 'route'],
      ['metadata', 'stamp', 'route'],
    ],
    ['once for each name of an instance', [kept, other, 'route'], ['stamp', 'route'], ['stamp', 'second', 'route']],
    [
      'as often as server.yaml has it, in a list without it',
      [kept, { ...kept, options: { color: 'blue' } }, 'metadata', 'route'],
      ['metadata', 'route'],
      ['stamp', 'stamp', 'metadata', 'route'],
    ],
    [
      'as often as server.yaml has it, in a list that names it once',
      [kept, { ...kept, options: { color: 'blue' } }, 'metadata', 'route'],
      ['stamp', 'route'],
      ['stamp', 'stamp', 'route'],
    ],
    [
      'not behind `route`, where it would never run',
      [kept, 'metadata', 'route'],
      ['metadata', 'route', 'stamp'],
      ['stamp', 'metadata', 'route'],
    ],
  ])('runs %s', (_, request, items, wanted) => {
    expect(shown(divide(items, 'config', { ...DEFAULTS, request }).request?.items)).toEqual(wanted);
  });

  it.each(['config', 'target'] as const)(
    'is in the attempt chain that a %s names, at the latest before `send`',
    (of) => {
      const attempt = ['override', 'cache', 'transform', 'retry', 'send', guard];
      expect(shown(divide(['transform', 'send'], of, { ...DEFAULTS, attempt }).attempt?.items)).toEqual([
        'transform',
        'guard',
        'send',
      ]);
    },
  );

  it('has the options of server.yaml unless the list has its own, and the index where each stands', () => {
    const chains = { ...DEFAULTS, request: [kept, other, 'route'] };
    expect(divide(['stamp', 'route'], 'config', chains).request).toEqual({
      items: [kept, other, 'route'],
      indexes: [0, { at: [], from: { file: 'server.yaml', path: ['chains', 'request', 1] }, kept: true }, 1],
    });
    const own = { plugin: 'stamp', options: { color: 'blue' } };
    expect(divide([own, 'route'], 'config', chains).request?.items[0]).toBe(own);
  });

  it('is not added to a chain that the list does not name', () => {
    const list = divide(['transform', 'send'], 'config', { ...DEFAULTS, request: [kept, 'route'] });
    expect(list.request).toBeUndefined();
  });

  it('cannot be one of a list of a config', () => {
    expect(messages([{ plugin: 'stamp', always: true }, 'route'])).toEqual([
      'plugins.0.always error: `always` belongs to the chains of server.yaml, whose entries no other list drops',
    ]);
  });
});

describe('a mistake in a flat list', () => {
  const replaces =
    'a list with attempt plugins replaces the attempt chain: it must hold "transform" and end with "send"';

  it.each<[string, readonly ChainItem[], string]>([
    ['that only has a guard', ['guard'], '[guard, transform, send]'],
    ['without `send`', ['override', 'transform'], '[override, transform, send]'],
    ['without `transform`', ['metadata', 'route', 'retry', 'send'], '[metadata, route, transform, retry, send]'],
    ['that does not end with `send`', ['transform', 'send', 'guard'], '[transform, guard, send]'],
    ['that also lacks `route`', ['metadata', 'guard'], '[metadata, route, guard, transform, send]'],
    [
      'with options, which may be secret',
      ['transform', { plugin: 'guard', options: { token: 's3cret' } }, { plugin: 'override', name: 'own' }],
      '[transform, { plugin: guard, options: … }, { plugin: override, name: own }, send]',
    ],
  ])('%s is reported with the line to write', (_, items, line) => {
    expect(messages(items)).toEqual([`plugins error: ${replaces}; write \`plugins: ${line}\``]);
    expect(divide(items).attempt).toBeUndefined();
  });

  it('that leaves out `route` is a warning with the line to write', () => {
    expect(messages(['metadata', 'stamp'])).toEqual([
      'plugins warning: a list with request plugins replaces the request chain, and no plugin of this one runs an attempt chain, as "route" does; write `plugins: [metadata, stamp, route]`',
    ]);
  });

  it('is an entry plugin, of a config and of a target', () => {
    expect(messages(['auth', 'route'])).toEqual([
      'plugins.0 error: plugin "auth" belongs in the entry chain, which `chains.entry` of server.yaml lists for all configs; a config lists request and attempt plugins',
    ]);
    expect(messages(['transform', { plugin: 'body' }, 'send'], 'target')).toEqual([
      'plugins.1.plugin error: plugin "body" belongs in the entry chain, which `chains.entry` of server.yaml lists for all configs; a target lists attempt plugins only',
    ]);
  });

  it('is a request plugin of a target', () => {
    expect(messages(['metadata', 'transform', 'send'], 'target')).toEqual([
      'plugins.0 error: plugin "metadata" belongs in the request chain, which runs before a target is chosen; a target lists attempt plugins only',
    ]);
  });

  it('is an unknown plugin, which hides what else may be missing', () => {
    expect(divide(['guard', 'sned', 'route']).problems).toEqual([
      { path: ['plugins', 1], message: 'unknown plugin "sned"', suggestion: 'send' },
    ]);
  });

  it('does not make the message longer than 30 plugins', () => {
    const [message] = messages(Array.from({ length: 5000 }, () => 'guard'));
    expect(message).toContain('guard, …, send]');
    expect(message!.length).toBeLessThan(500);
  });
});

describe('changes of the chains', () => {
  const names = (part: { readonly items: readonly ChainItem[] } | undefined) =>
    part?.items.map((item) => (typeof item === 'string' ? item : (item.name ?? item.plugin)));

  it('add a plugin beside an entry, whose chain gets it', () => {
    const { request, attempt, problems } = divide({
      add: [
        { plugin: 'stamp', before: 'route' },
        { plugin: 'guard', after: 'transform' },
        { plugin: 'guard', name: 'second', after: 'guard' },
      ],
    });
    expect(problems).toEqual([]);
    expect(names(request)).toEqual(['metadata', 'stamp', 'route']);
    expect(names(attempt)).toEqual(['override', 'cache', 'transform', 'guard', 'second', 'retry', 'send']);
  });

  it('remove entries, and leave a chain that they do not name inherited', () => {
    const { request, attempt } = divide({ remove: ['cache', 'retry'] });
    expect([request, names(attempt)]).toEqual([undefined, ['override', 'transform', 'send']]);
  });

  it('set options by the name of an entry, and keep its other options', () => {
    const chains = {
      ...DEFAULTS,
      request: [{ plugin: 'stamp', name: 'red', options: { color: 'red', size: 1 } }, 'route'],
    };
    const { request } = divide({ options: { red: { size: 2 }, route: { on: true } } }, 'config', chains);
    expect(request?.items).toEqual([
      { plugin: 'stamp', name: 'red', options: { color: 'red', size: 2 } },
      { plugin: 'route', options: { on: true } },
    ]);
  });

  it('have the place of each entry: its list, and where its options are changed', () => {
    const { request } = divide({ add: [{ plugin: 'stamp', before: 'route' }], options: { metadata: { max_keys: 8 } } });
    expect(request?.indexes).toEqual([
      {
        at: [],
        from: { file: 'server.yaml', path: ['chains', 'request', 0] },
        options: { file: 'gateway/own.yaml', path: ['plugins', 'options', 'metadata'] },
      },
      { at: ['add', 0] },
      { at: [], from: { file: 'server.yaml', path: ['chains', 'request', 1] } },
    ]);
  });

  it.each<[string, ChainChanges, 'target' | undefined, string]>([
    [
      'an entry that is not there',
      { add: [{ plugin: 'stamp', before: 'rout' }] },
      undefined,
      'plugins.add.0.before error: the request chain and the attempt chain here: no plugin has the name "rout"',
    ],
    [
      'a removed entry of the request chain in a target',
      { remove: ['metadata'] },
      'target',
      'plugins.remove.0 error: the attempt chain here: no plugin has the name "metadata"',
    ],
    [
      'options of an entry that is not there',
      { options: { stamp: {} } },
      undefined,
      'plugins.options.stamp error: the request chain and the attempt chain here: no plugin has the name "stamp"',
    ],
    [
      'a plugin after the one that ends its chain',
      { add: [{ plugin: 'guard', after: 'send' }] },
      undefined,
      'plugins.add.0.after error: no plugin after "send" runs',
    ],
    [
      '`always` outside server.yaml',
      { add: [{ plugin: 'stamp', before: 'route', always: true }] },
      undefined,
      'plugins.add.0.always error: `always` belongs to the chains of server.yaml, whose entries no other list drops',
    ],
    [
      'an attempt chain that cannot send',
      { remove: ['transform'] },
      undefined,
      'plugins error: the attempt chain that these changes leave must hold "transform" and end with "send"',
    ],
    [
      'a request chain that runs no attempt chain',
      { remove: ['route'] },
      undefined,
      'plugins warning: the request chain that these changes leave has no plugin that runs an attempt chain, as "route" does',
    ],
  ])('report %s', (_, changes, of, message) => {
    expect(messages(changes, of)).toEqual([message]);
  });

  it('cannot remove an entry that server.yaml has with `always: true`', () => {
    const chains = { ...DEFAULTS, request: [{ plugin: 'stamp', always: true }, 'route'] };
    const { request, problems } = divide({ remove: ['stamp'] }, 'config', chains);
    expect([request, problems.map(({ path, message }) => [path.join('.'), message])]).toEqual([
      undefined,
      [['plugins.remove.0', '"stamp" has `always: true` in server.yaml: no list removes it']],
    ]);
  });
});
