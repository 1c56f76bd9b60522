import type { GatewayFile, Target as TargetFile } from '../../../schemas/types.generated.ts';
import type { JsonPath } from '../settings/schema/pointer.ts';
import { inOurSpelling } from '../settings/read/spellings.ts';
import type { DryRun } from './dry-run.ts';

type WithConfig = Pick<DryRun, 'exchange' | 'settings'>;

/** A config, or one of its targets, as written. */
export interface Level {
  /** `config.targets[1]` */
  readonly target: string;
  /** The same in the file: `['targets', 1]`. */
  readonly path: JsonPath;
  readonly says: GatewayFile | TargetFile;
}

const ROOT = 'config';

/** `config.targets[1].targets[0]` → `['targets', 1, 'targets', 0]` */
export const pathInFile = (target: string): JsonPath =>
  [...target.matchAll(/\.targets\[(\d+)\]/g)].flatMap(([, index]) => ['targets', Number(index)]);

const nameOf = (path: JsonPath): string =>
  ROOT + path.map((segment) => (typeof segment === 'number' ? `[${segment}]` : `.${segment}`)).join('');

/** The levels from a target up to its config. Empty without a config, and for a target that the config does not have. */
function levelsIn(config: GatewayFile | undefined, target: string): readonly Level[] {
  const path = pathInFile(target);
  const levels: Level[] = [];
  let says: GatewayFile | TargetFile | undefined = config;
  for (let depth = 0; says; depth += 2) {
    levels.unshift({ target: nameOf(path.slice(0, depth)), path: path.slice(0, depth), says });
    const index = path[depth + 1];
    says = typeof index === 'number' ? says.targets?.[index] : undefined;
  }
  return levels.length === path.length / 2 + 1 ? levels : [];
}

export const levelsOf = (run: WithConfig, target: string): readonly Level[] => levelsIn(writtenConfig(run), target);

/** The name of a target or group in the config; a compiled target has none. The config's own name does not count. */
export const targetName = (run: WithConfig, target: string): string | undefined =>
  target === ROOT ? undefined : levelsOf(run, target)[0]?.says.name;

export const isInline = ({ exchange: { request } }: Pick<DryRun, 'exchange'>): boolean =>
  request.header('config')?.trimStart().startsWith('{') ?? false;

const inline = new WeakMap<DryRun['exchange'], GatewayFile>();

/** The written config in canonical spelling. */
function writtenConfig({ exchange, settings }: WithConfig): GatewayFile | undefined {
  const { config, request } = exchange;
  if (!config) return undefined;
  if (!isInline({ exchange })) return settings.gateway.get(config.id);
  let written = inline.get(exchange);
  if (!written) inline.set(exchange, (written = inOurSpelling(JSON.parse(request.header('config') ?? '{}'), () => {})));
  return written;
}
