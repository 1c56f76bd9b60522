import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** Types of which every request has its own objects. */
const OF_REQUEST =
  /\b(?:Exchange|Attempt|Holder|Context|IncomingMessage|ServerResponse|OpenRequest|PooledRequest|InFlightEntry|Admission|Reply|RequestBody|Source|Try|object|T)\b/;

/**
 * Tables that may hold objects of a request, because ordinary requests do not enter them. All others must be a
 * `LiveList` (src/core/kernel/live-list.ts has the reason and the figures).
 */
const RARE: Readonly<Record<string, string>> = {
  'src/core/host/plugin-span.ts: WeakMap<object, number>': 'a plugin adds a span to a trace',
  'src/core/http/chain/compose.ts: WeakMap<object, Chain>':
    'one per operation, config and target; all requests share them',
  'src/core/http/chain/instance.ts: WeakMap<Holder, Stop>': 'an external plugin stopped the request without a reply',
  'src/core/settings/compile/plugin-options.ts: WeakMap<object, CompiledOptions>': 'schemas of plugins',
  'src/core/settings/query/fields.ts: WeakMap<RequestBody, Map<string, unknown>>':
    'a condition reads a field of a large body',
  'src/core/settings/query/patterns.ts: WeakMap<object, number>': 'a condition has a `$regex`',
  'src/addons/responses/websockets/open-sockets.ts: WeakMap<ServerResponse, string | undefined>':
    'a client opens a WebSocket',
  'src/addons/auth-call/joined-calls.ts: Map<string, Promise<T>>': 'a service is asked for the caller; at most 100',
  'src/core/http/gateway/koa-reply.ts: WeakSet<Reply>': 'an external plugin replied by `ctx.body`',
  'src/addons/guards/plugins/words.ts: WeakMap<Exchange, Set<string>>': 'explain runs a guard of replies',
  'src/addons/guards/run/webhook-hooks.ts: WeakMap<object, TextsOfReply>': 'a webhook reads the reply',
  'src/core/compose/entry-gate.ts: WeakMap<Exchange, readonly string[]>':
    'several plugins identify callers, and the first did not know this one',
  'src/core/compose/server-timing.ts: WeakMap<Exchange, Times>': 'the gateway config asks for Server-Timing',
  'src/core/catalog/fields/check-fields.ts: WeakMap<object, FieldRules[]>':
    'the key or the catalog entry has field rules',
  'src/core/kernel/outside/blame.ts: WeakMap<object, string>': 'an external plugin threw',
  'src/addons/captures/watch/watcher.ts: Map<Exchange, SeenExchange>': 'a capture runs',
  'src/core/upstream/line.ts: Map<string, Set<T>>': 'all connections are in use',
};

it('No table that outlives a request holds objects of ordinary requests', () => {
  const sources = globSync('{src,plugins}/**/*.ts', { cwd: root }).filter(
    // The tables of the formats belong to one request themselves, and dry runs serve no requests.
    (file) =>
      !/\.(?:test|testkit)\.ts$|\/testing\/|^src\/(?:formats|core\/(?:dry-run|commands)|addons\/(?:explain|config-tests)|cli)\//.test(
        file,
      ),
  );
  const found = sources.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...text.matchAll(/new ((?:Weak)?(?:Map|Set)<([^(]+)>)\(/g)].flatMap(([, table = '', types = '']) =>
      OF_REQUEST.test(types) ? [`${file}: ${table}`] : [],
    );
  });
  expect([...new Set(found)].toSorted()).toEqual(Object.keys(RARE).toSorted());
});
