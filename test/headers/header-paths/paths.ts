import { targetsOf } from '../../../src/core/memory/ports.ts';
import type { Clock } from '../../../src/plugin/index.ts';
import type { GatewayConfig, Target } from '../../../src/core/kernel/index.ts';
import { aliasedModels } from '../../../src/core/settings/compile/aliased-models.ts';
import { compileGatewayConfig } from '../../../src/core/settings/compile/gateway-config.ts';
import { compileServerSettings } from '../../../src/core/settings/compile/server-settings.ts';
import type { LoadResult, Settings } from '../../../src/core/settings/read/load.ts';
import { mark, MarkedRequests, sentBy } from './sent.ts';
import { Upstreams, type ReachedUpstream, type UpstreamInput } from './upstreams.ts';

/** One header of a request that can reach one upstream. */
export interface HeaderPath {
  /** Lower-case name as clients send it. */
  readonly header: string;
  /** Lower-case name that the upstream receives; empty: its URL. */
  readonly as: string;
  /** The catalog entry as `@slug`; `vertex-ai` or `custom host` for destinations that requests name themselves. */
  readonly provider: string;
  /** Undefined: requests without a config. */
  readonly config: string | undefined;
  /** Path in the config: `config.targets[1]`. */
  readonly target: string;
}

/**
 * Finds which headers of requests can reach which upstreams: encodes, for every target of every config, a request that
 * has every possible header, with the functions that serve. Opens nothing. Without repetitions.
 */
export async function headerPaths({ settings, ok }: LoadResult, clock: Clock): Promise<readonly HeaderPath[]> {
  if (!settings || !ok) throw new Error('the settings have errors');
  const known: UpstreamInput = { settings, server: compileServerSettings(settings.server), clock };
  const search: Search = { upstreams: new Upstreams(known), requests: new MarkedRequests(known) };
  const paths: HeaderPath[] = [];
  for (const placed of placedTargets(settings)) {
    for (const place of search.upstreams.places) paths.push(...(await pathsTo(place, placed, search)));
  }
  return [...new Map(paths.map((path) => [JSON.stringify(path), path])).values()];
}

interface Search {
  readonly upstreams: Upstreams;
  readonly requests: MarkedRequests;
}

async function pathsTo(
  place: ReachedUpstream,
  { target, config, isDirect }: PlacedTarget,
  { upstreams, requests }: Search,
): Promise<readonly HeaderPath[]> {
  const found: HeaderPath[] = [];
  for (const way of upstreams.ways(place, target, config)) {
    for (const prefix of requests.prefixes) {
      const exchange = requests.of(way.operation, prefix);
      const seen = await sentBy(exchange, way, { target, upstreamToken: mark('authorization') });
      found.push(
        ...seen.map((one) => ({
          header: one.mark,
          as: one.as ?? '',
          provider: place.name,
          config: isDirect ? undefined : config.id,
          target: target.path,
        })),
      );
    }
  }
  return found;
}

interface PlacedTarget {
  readonly config: GatewayConfig;
  /** The target of requests without a config. */
  readonly isDirect: boolean;
  readonly target: Target;
}

function placedTargets(settings: Settings): readonly PlacedTarget[] {
  const aliases = aliasedModels(settings.catalog);
  const configs = [...settings.gateway].map(([id, file]) => compileGatewayConfig(id, file, { aliases }));
  return [compileGatewayConfig('', {}), ...configs].flatMap((config, index) =>
    targetsOf(config.route).map((target) => ({ config, isDirect: index === 0, target })),
  );
}
