import type { Logger } from 'pino';
import { builtinPlugins } from '../../../../plugins/index.ts';
import { PluginRegistry } from '../../../chain/registry.ts';
import type { Caller, Clock, KeyRing } from '../../../plugin/index.ts';
import {
  credentialHeaders,
  mayHoldCredential,
  neverForwarded,
  type ForwardRules,
} from '../../../settings/checks/forward-headers.ts';
import type { LoadResult, Settings } from '../../../settings/read/load.ts';
import type { ServerSettings } from '../../../settings/compile/server-settings.ts';
import { HttpExchange } from '../../../gateway/exchange.ts';
import { HeaderNames } from '../../../gateway/header-names.ts';
import { ignorePluginFaults } from '../../../gateway/plugin-faults.ts';
import { ChainBuilder } from '../../../compose/chain-builder.ts';
import { inboundContext } from '../inbound.ts';
import { ANYBODY } from '../supposed-caller.ts';
import { ownerOf } from './marked-catalog.ts';
import { mark } from './marks.ts';
import { MarkedRequests, sentBy, type FoundMark } from './sent.ts';
import { targetsOf, type PlacedTarget } from './targets.ts';
import { Upstreams, type UpstreamInput, type ReachedUpstream, type Way } from './upstreams.ts';

export interface SelfTest {
  readonly loaded: LoadResult;
  readonly settings: Settings;
  readonly server: ServerSettings;
  readonly clock: Clock;
  readonly log: Logger;
}

// Fit for tokens, and no names of headers.
const GATEWAY_KEY = 'the/gateway-key';
const CALLERS = 'the/caller';

/**
 * Sends marked credentials through the functions that serve, to every upstream that a target of these settings can lead to, and
 * reports each that would cross, at the line that lets it. The checks of single settings say the same with more words; this one
 * does not know how a credential could get there. Bounded: what is asked alike is asked once. Opens nothing.
 */
export async function checkCrossing(setup: SelfTest): Promise<void> {
  const { loaded, settings } = setup;
  if (sound.has(settings)) return;
  await sendMarked(setup);
  if (loaded.ok) sound.add(settings);
}

/** Tests of configs compile the same settings for every case, and this takes longer than one: what was found sound once stays so. */
const sound = new WeakSet<Settings>();

async function sendMarked(setup: SelfTest): Promise<void> {
  const { settings } = setup;
  const upstreams = new Upstreams(setup);
  const test: Test = {
    setup,
    requests: new MarkedRequests(setup),
    tokens: await tokensLeftByAuth(setup),
    rules: { prefixes: setup.server.headerPrefixes, credentials: credentialHeaders(settings.catalog.providers) },
    asked: new Set(),
  };
  for (const placed of targetsOf(settings)) {
    const forward = placed.target.forwardHeaders;
    for (const place of upstreams.places) {
      for (const way of upstreams.ways(place, placed.target, placed.config)) {
        const at = `${way.kind} at ${place.name} ${place.caller?.keyId}`;
        const tried = { placed, place, way };
        // What a place does of its own does not depend on what a target forwards, nor what is forwarded on the place.
        if (isNew(test, at)) await tryWay(test, tried, test.tokens);
        else if (forward.filter((name) => isNew(test, `${way.kind} ${name}`)).length > 0)
          await tryWay(test, tried, [undefined]);
      }
    }
  }
}

interface Test {
  readonly setup: SelfTest;
  readonly requests: MarkedRequests;
  /** What is taken for the caller's own credential. */
  readonly tokens: readonly (string | undefined)[];
  readonly rules: ForwardRules;
  readonly asked: Set<string>;
}

function isNew({ asked }: Test, key: string): boolean {
  const before = asked.size;
  return asked.add(key).size > before;
}

interface Tried {
  readonly placed: PlacedTarget;
  readonly place: ReachedUpstream;
  readonly way: Way;
}

async function tryWay(test: Test, tried: Tried, tokens: Test['tokens']): Promise<void> {
  const { target } = tried.placed;
  for (const prefix of test.requests.prefixes) {
    const exchange = test.requests.of(tried.way.operation, prefix);
    for (const upstreamToken of tokens) {
      for (const seen of await sentBy(exchange, tried.way, { target, upstreamToken })) report(test, tried, seen);
    }
  }
}

function report(test: Test, tried: Tried, seen: FoundMark): void {
  const { placed, place, way } = tried;
  const { loaded, settings } = test.setup;
  const index = placed.target.forwardHeaders.indexOf(seen.mark);
  const why = crossing(seen, { rules: test.rules, way, forwarded: index >= 0 });
  if (why === undefined) return;
  if (index >= 0 && placed.file !== undefined && placed.forwardAt) {
    const path = [...placed.forwardAt, index];
    return loaded.reporter(placed.file)({ path, message: `\`${seen.mark}\` ${why} and is never forwarded` });
  }
  const entry = settings.catalog.providers.findIndex(({ slug }) => `@${slug}` === place.name);
  const to = seen.as === undefined ? 'the address of' : `the header \`${seen.as}\` to`;
  const message = `${seen.mark === GATEWAY_KEY ? 'a gateway key' : seen.mark} would go in ${to} ${place.name}: it ${why}`;
  loaded.reporter(entry < 0 ? 'server.yaml' : 'catalog.yaml')({ path: entry < 0 ? [] : ['providers', entry], message });
}

/** Why it must not get there; undefined where it may. */
export function crossing(
  { mark: name }: Pick<FoundMark, 'mark'>,
  { rules, way, forwarded }: { rules: ForwardRules; way: Pick<Way, 'entry'>; forwarded: boolean },
): string | undefined {
  if (name === GATEWAY_KEY) return 'never leaves the gateway';
  if (name === CALLERS) return undefined;
  const owner = ownerOf(name);
  if (owner !== undefined) return owner.is(way.entry.provider) ? undefined : 'is the credential of another entry';
  return forwarded || mayHoldCredential(withoutPrefix(name, rules)) ? neverForwarded(name, rules) : undefined;
}

/** What operators call their prefix says nothing of what is in the header. */
const withoutPrefix = (name: string, { prefixes }: ForwardRules): string =>
  name.slice(prefixes.find((prefix) => name.startsWith(prefix))?.length ?? 0);

const KEY_HOLDER: Caller = { ...ANYBODY, keyId: 'self-test', inlineConfigs: false };

/** A key in each of its places, beside what callers have for their upstream: what does `auth` make of it? */
async function tokensLeftByAuth(setup: SelfTest): Promise<readonly (string | undefined)[]> {
  const { loaded, server, clock, log } = setup;
  const listed = server.chains.entry.some((item) => (typeof item === 'string' ? item : item.plugin) === 'auth');
  const callers = mark(CALLERS);
  if (!listed) return [callers];
  const key = mark(GATEWAY_KEY);
  const keys: KeyRing = { find: (given) => (given === key ? KEY_HOLDER : undefined) };
  const chainBuilder = new ChainBuilder(loaded, {
    clock,
    log,
    random: () => 0,
    registry: new PluginRegistry(builtinPlugins),
    pluginMs: server.limits.pluginMs,
    pluginFault: ignorePluginFaults,
  });
  const auth = await chainBuilder.chain(
    { level: 'entry', file: 'server.yaml', path: ['chains'], items: ['auth'] },
    { keys },
  );
  const own = server.headerPrefixes.map((prefix) => `${prefix}api-key`);
  const tokens = new Set<string | undefined>();
  for (const place of [...own, 'authorization', 'x-api-key']) {
    for (const authorization of [`Bearer ${callers}`, `Bearer ${key}`, key]) {
      const headers = { authorization, 'x-api-key': key, [place]: place === 'authorization' ? authorization : key };
      const ctx = inboundContext({ method: 'POST', path: '/v1/chat/completions', headers, body: Buffer.alloc(0) });
      const exchange = exchangeOf(ctx.req, setup);
      await auth?.run(Object.assign(ctx, { exchange, attempt: undefined }));
      tokens.add(exchange.upstreamToken?.reveal());
    }
  }
  await chainBuilder.close();
  return [...tokens];
}

function exchangeOf(
  req: ConstructorParameters<typeof HttpExchange>[0],
  { settings, server, clock }: UpstreamInput,
): HttpExchange {
  const snapshot = { hash: settings.hash, headerNames: new HeaderNames(server.headerPrefixes), server };
  return new HttpExchange(req, { operation: undefined, clientFormat: undefined, params: {}, snapshot, clock });
}
