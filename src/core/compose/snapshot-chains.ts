import { createAliasDirectory } from '../catalog/access.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { createModelDirectory } from '../catalog/model-directory.ts';
import { CatalogResolver } from '../catalog/target-resolver.ts';
import type { CompiledChain } from '../http/chain/compile.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import { NO_TURNS, type Capabilities, type MediaInliner, type RequestLimits, type Sender } from '../kernel/index.ts';
import type { PluginLevel } from '../../plugin/index.ts';
import type { Settings } from '../settings/read/load.ts';
import type { ServerSettings } from '../settings/compile/server-settings.ts';
import type { ReplyStore, SnapshotHealth } from '../memory/ports.ts';
import { createAttemptRunner } from '../http/gateway/attempts.ts';
import { createReplyCache } from '../translate/cached-replies.ts';
import { compileConfigs } from './config-directory.ts';
import type { SnapshotPart, Shared } from './snapshot-part.ts';
import { createMediaInliner } from '../translate/inline-media.ts';
import { createSender } from '../send/send.ts';
import type { Tenancy } from './tenancy.ts';
import { createTranslator } from '../translate/translator.ts';
import { noChain, outerEntry, serverChain, ChainBuilder } from './chain-builder.ts';
import { listedParts, PluginLists } from './plugin-lists.ts';
import type { InFlight } from '../http/gateway/admission/in-flight.ts';

export interface ChainParts {
  readonly server: ServerSettings;
  readonly tenancy: Tenancy;
  readonly catalog: Catalog;
  readonly parts: readonly SnapshotPart[];
  readonly chainBuilder: ChainBuilder;
  readonly shared: Shared;
  readonly replies: ReplyStore;
  readonly health: SnapshotHealth;
}

/** Compiles all chains. Returns the entry chain, which leads to the others. */
export async function compileChains(settings: Settings, parts: ChainParts): Promise<CompiledChain | undefined> {
  const { server, tenancy, catalog, chainBuilder, shared, replies, health } = parts;
  const { clock } = shared;
  const targets = new CatalogResolver(catalog, shared.labels);

  const base = {
    translate: createTranslator(clock, server.limits.holdBytes),
    targets,
    defaultFormat: openaiChat,
    limits: requestLimits(settings, server, shared.inFlight),
    turns: shared.turns ?? NO_TURNS,
    recorder: shared.recorder,
  };
  const media = composeMedia(parts.parts, shared);
  const send = composeSender(shared, server, parts.parts);
  const tools = { targets, translate: base.translate, send };
  const grantedToAttempts = {
    ...base,
    send,
    media,
    cache: createReplyCache(replies, clock),
    ...grantedBy(parts.parts, 'attempt'),
    ...Object.assign({}, ...parts.parts.map((part) => part.grantToAttempts?.(tools))),
  };
  const attemptChain = await chainBuilder.chain(
    { ...serverChain(server, 'attempt'), provided: providedToAttempts(settings, server, chainBuilder) },
    grantedToAttempts,
  );
  const attempts = createAttemptRunner({ chain: attemptChain?.run ?? noChain, clock, timeouts: server.timeouts });
  const granted = { ...base, attempts, health, ...grantedBy(parts.parts, 'request') };
  const configs = await compileConfigs(settings, server, chainBuilder, {
    granted,
    lists: new PluginLists(chainBuilder, { server, granted: { request: granted, attempt: grantedToAttempts } }),
    hasBudgets: parts.parts.some(({ hasBudgets }) => hasBudgets),
    onConfig: parts.parts.find(({ onConfig }) => onConfig)?.onConfig,
  });
  health.prepare(configs.ids.flatMap((id) => configs.get(id) ?? []));
  const models = createModelDirectory(catalog, configs, targets);
  const aliases = createAliasDirectory(catalog.aliases);
  const own = grantedBy(parts.parts, 'entry');
  const grantedToEntry = { ...base, aliases, keys: tenancy.keys, configs, models, ...own };
  return chainBuilder.chain(serverChain(server, 'entry'), grantedToEntry);
}

const grantedBy = (parts: readonly SnapshotPart[], level: PluginLevel): Partial<Capabilities> =>
  Object.assign({}, ...parts.map(({ granted }) => granted?.[level]));

function composeMedia(parts: readonly SnapshotPart[], { clock, log, upstream }: Shared): MediaInliner {
  const { placeFiles } = parts.find((part) => part.placeFiles) ?? {};
  return createMediaInliner({ download: upstream.download, clock, log, placeFiles });
}

function composeSender(
  { upstream, clock, inFlight, taps }: Shared,
  { limits }: ServerSettings,
  parts: readonly SnapshotPart[],
): Sender {
  const sender = createSender({ upstream, clock, limits, taps, hold: inFlight.hold.bind(inFlight) });
  return parts.reduce((inner, part) => part.sender?.(inner) ?? inner, sender);
}

const requestLimits = (settings: Settings, { limits }: ServerSettings, inFlight: InFlight): RequestLimits => ({
  body: limits.body,
  form: limits.form,
  json: limits.json,
  builtInOnly: (settings.server.plugins ?? []).length === 0,
  reserve: inFlight.reserve.bind(inFlight),
});

/** The names that all request chains provide which may run the attempt chain of the server. */
function providedToAttempts(settings: Settings, server: ServerSettings, chainBuilder: ChainBuilder): string[] {
  const own = [...settings.gateway.values()].flatMap((file) => {
    const { request, attempt } = listedParts(file, chainBuilder, server);
    return request && !attempt ? [request.items] : [];
  });
  const [first = [], ...others] = [server.chains.request, ...own].map((items) =>
    chainBuilder.providedTo('attempt', outerEntry(server), { items, runner: 'attempts' }),
  );
  return first.filter((name) => others.every((names) => names.includes(name)));
}
