import type { FieldSource } from '../../explanation/explanation.ts';
import type { HeaderPath, HeaderPaths, HeaderReason, NeverSent } from '../../explanation/header-paths.ts';
import type { Clock, GatewayConfig, Target } from '../../../../plugin/index.ts';
import { CONNECTION_HEADERS } from '../../../../core/providers/connection-headers.ts';
import { credentialHeaders, neverForwarded } from '../../../../core/settings/checks/forward-headers.ts';
import type { LoadResult, Settings } from '../../../../core/settings/read/load.ts';
import type { JsonPath } from '../../../../core/settings/read/pointer.ts';
import { aliasedModels } from '../../../../core/settings/compile/aliased-models.ts';
import { compileServerSettings } from '../../../../core/settings/compile/server-settings.ts';
import { inFile } from '../describe/places.ts';
import { MarkedRequests, sentBy, type FoundMark, mark } from './sent.ts';
import { CUSTOM_HOST, Upstreams, type UpstreamInput, type ReachedUpstream, type Way } from './upstreams.ts';
import type { GatewayFile } from '../../../../../schemas/types.generated.ts';
import { compileGatewayConfig } from '../../../../core/settings/compile/gateway-config.ts';
import { targetsOf } from '../../../../core/memory/ports.ts';
import { levelsIn } from '../../../../core/dry-run/written-config.ts';

interface HeaderPathsSetup {
  readonly loaded: LoadResult;
  readonly clock: Clock;
}

/**
 * Finds which headers of requests can reach which upstreams: encodes, for every target of every config, a request that
 * has every possible header, with the functions that serve. Opens nothing. Undefined for settings with errors.
 */
export async function headerPaths({ loaded, clock }: HeaderPathsSetup): Promise<HeaderPaths | undefined> {
  const { settings } = loaded;
  if (!settings || !loaded.ok) return undefined;
  const known: UpstreamInput = { settings, server: compileServerSettings(settings.server), clock };
  const search: Search = { loaded, settings, upstreams: new Upstreams(known), requests: new MarkedRequests(known) };
  const paths: HeaderPath[] = [];
  for (const placed of placedTargets(settings)) {
    for (const place of search.upstreams.places) paths.push(...(await pathsTo(place, placed, search)));
  }
  return {
    settings: { folder: loaded.folder, hash: settings.hash },
    paths: distinct(paths),
    never: neverSent(known),
    notes: notesOn(settings),
  };
}

interface Search {
  readonly loaded: LoadResult;
  readonly settings: Settings;
  readonly upstreams: Upstreams;
  readonly requests: MarkedRequests;
}

async function pathsTo(place: ReachedUpstream, placed: PlacedTarget, search: Search): Promise<readonly HeaderPath[]> {
  const { target, config, file } = placed;
  const found: HeaderPath[] = [];
  for (const way of search.upstreams.ways(place, target, config)) {
    for (const prefix of search.requests.prefixes) {
      const exchange = search.requests.of(way.operation, prefix);
      const seen = await sentBy(exchange, way, { target, upstreamToken: mark('authorization') });
      found.push(
        ...seen.map((one) => ({
          header: one.mark,
          as: one.as ?? '',
          provider: place.name,
          config: file === undefined ? undefined : config.id,
          target: target.path,
          ...reasonOf(one, { way, place, placed, search }),
        })),
      );
    }
  }
  return found;
}

interface Where {
  readonly way: Way;
  readonly place: ReachedUpstream;
  readonly placed: PlacedTarget;
  readonly search: Search;
}

function reasonOf({ mark: header }: FoundMark, where: Where): { why: HeaderReason; source: FieldSource } {
  const { placed, search, way } = where;
  if (header === 'authorization') return { why: 'credential', source: whoseCredential(where) };
  const index = placed.target.forwardHeaders.indexOf(header);
  if (index >= 0 && placed.file !== undefined && placed.forwardAt)
    return { why: 'forwarded', source: inFile(search.loaded, placed.file, [...placed.forwardAt, index]) };
  return {
    why: 'spoken',
    source: { kind: 'gateway', what: `a header of the ${way.resolved.format} API` },
  };
}

/** The catalog entry without a credential of its own, or the list of custom hosts. */
function whoseCredential({ place, placed: { file, config }, search: { loaded, settings } }: Where): FieldSource {
  const entry = settings.catalog.providers.findIndex(({ slug }) => `@${slug}` === place.name);
  if (entry >= 0) return inFile(loaded, 'catalog.yaml', ['providers', entry]);
  if (place.name !== CUSTOM_HOST)
    return { kind: 'gateway', what: 'upstreams that a request names get the caller’s own token' };
  const key = settings.keys.keys.findIndex(({ id }) => id === place.caller?.keyId);
  if (key >= 0) return inFile(loaded, 'keys.yaml', ['keys', key, 'custom_hosts']);
  return inFile(loaded, file ?? `gateway/${config.id}.yaml`, ['custom_hosts']);
}

/** Removes repetitions: operations and models of one kind give equal paths. */
function distinct(paths: readonly HeaderPath[]): readonly HeaderPath[] {
  const byWords = new Map<string, HeaderPath>();
  for (const path of paths) {
    const { header, as, provider, config, target, why } = path;
    const words = JSON.stringify([header, as, provider, config, target, why]);
    if (!byWords.has(words)) byWords.set(words, path);
  }
  return [...byWords.values()];
}

/** Headers that no settings can forward, each with the reason that the check of a config gives. */
function neverSent({ settings, server: { headerPrefixes: prefixes } }: UpstreamInput): readonly NeverSent[] {
  const rules = { prefixes, credentials: credentialHeaders(settings.catalog.providers) };
  const names = [
    ...prefixes.map((prefix) => `${prefix}api-key`),
    'x-api-key',
    'x-goog-api-key',
    'cookie',
    'proxy-authorization',
    ...rules.credentials.keys(),
    ...CONNECTION_HEADERS,
  ];
  const reported = [...new Set(names)].flatMap((header) => {
    const why = neverForwarded(header, rules);
    return why === undefined ? [] : [{ header, why }];
  });
  return [{ header: 'authorization', why: 'is never forwarded; a gateway key in it stays here' }, ...reported];
}

function notesOn({ keys }: Settings): readonly string[] {
  const own = keys.keys.flatMap(({ id, inline_configs: inline }) => (inline ? [`\`${id}\``] : []));
  if (own.length === 0) return [];
  const who = `${own.length === 1 ? 'The key' : 'The keys'} ${own.join(', ')}`;
  return [
    `${who} may send a config with a request, and its \`forward_headers\` may name any header but those never sent and those that steer an upstream (accounts, addresses, methods).`,
  ];
}

/** A target of a config, or the target of requests without a config. */
interface PlacedTarget {
  readonly config: GatewayConfig;
  /** Undefined for requests without a config. */
  readonly file: string | undefined;
  readonly target: Target;
  /** Path of the `forward_headers` that apply to this target. */
  readonly forwardAt: JsonPath | undefined;
}

function placedTargets(settings: Settings): readonly PlacedTarget[] {
  const direct = compileGatewayConfig('', {});
  const aliases = aliasedModels(settings.catalog);
  const configs = [...settings.gateway].map(([id, file]) => ({
    file,
    config: compileGatewayConfig(id, file, { aliases }),
  }));
  return [
    ...targetsOf(direct.route).map((target) => ({ config: direct, file: undefined, target, forwardAt: undefined })),
    ...configs.flatMap(({ file, config }) =>
      targetsOf(config.route).map((target) => ({
        config,
        file: `gateway/${config.id}.yaml`,
        target,
        forwardAt: forwardList(file, target.path),
      })),
    ),
  ];
}

/** The nearest one, from the target up to its config: a list replaces those around it. */
function forwardList(file: GatewayFile, target: string): JsonPath | undefined {
  const level = levelsIn(file, target).find(({ says }) => says.forward_headers);
  return level && [...level.path, 'forward_headers'];
}
