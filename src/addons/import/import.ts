import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { checkSettings } from '../../core/dry-run/check-settings.ts';
import { formatDiagnostics } from '../../core/settings/source/diagnostic.ts';
import { loadSettings } from '../../core/settings/read/load.ts';
import { YamlFile } from '../../core/settings/source/yaml-file.ts';
import { writeNewFiles } from '../../core/commands/new-files.ts';
import { calledAs, shellWord, type Output } from '../../core/commands/terminal/output.ts';
import { Draft } from './draft.ts';
import { importLiteLlm } from './litellm.ts';
import { importPortkey } from './portkey.ts';
import { ForeignFile, type Weight } from './source.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';

export const KINDS = { portkey: importPortkey, litellm: importLiteLlm } as const;

interface ImportOptions extends Output {
  readonly kind: keyof typeof KINDS;
  readonly paths: readonly string[];
  readonly dir: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970. The report warns of models that retire soon, or have retired. Default: now */
  readonly now?: number;
}

/** Files of settings are written by people; exports of keys may have thousands of rows. */
const MAX_BYTES = 64 * 1024 * 1024;

/** `gatehouse import`. Exit code 0: written and valid; 1: nothing was written, or what was written has errors. */
export async function importCommand(options: ImportOptions): Promise<0 | 1> {
  const { kind, paths, dir, out, err, env = {}, now = Date.now() } = options;
  const sources = await readSources(paths, err);
  if (!sources) return 1;
  const draft = new Draft(sources);
  KINDS[kind](sources, draft);
  if (isEmpty(draft)) {
    out(lossesOf(draft, sources));
    err('gatehouse: nothing was imported: the files have no model, config, key or team that can be\n');
    return 1;
  }
  if (draft.keys.length === 0) {
    const key = draft.variable('GATEHOUSE_KEY', 'a key for applications, at least 16 characters');
    draft.keys.push({ id: 'application', key });
  }
  const files = filesOf(draft, paths);
  const problem = await writeNewFiles(dir, files);
  if (problem !== undefined) {
    err(`gatehouse: nothing was imported: ${problem}\n`);
    return 1;
  }
  const loaded = await loadSettings(dir, { env: draft.samples, fakeMissing: true, now });
  if (loaded.settings) await checkSettings(loaded, dir);
  out(reportOf(draft, sources, { dir, names: Object.keys(files), command: calledAs(env) }));
  if (loaded.diagnostics.length > 0) err(formatDiagnostics(loaded.diagnostics, 'pretty'));
  return loaded.ok ? 0 : 1;
}

async function readSources(
  paths: readonly string[],
  err: (text: string) => void,
): Promise<readonly ForeignFile[] | undefined> {
  const sources: ForeignFile[] = [];
  for (const path of paths) {
    let text: string;
    try {
      if ((await stat(path)).size > MAX_BYTES) throw new Error('it has more than 64 MiB');
      text = await readFile(path, 'utf8');
    } catch (error) {
      err(`gatehouse: cannot read ${path}: ${messageOf(error)}\n`);
      return undefined;
    }
    const yaml = YamlFile.parse(path, text);
    if (yaml.syntaxErrors.length > 0) {
      err(formatDiagnostics(yaml.syntaxErrors, 'pretty'));
      return undefined;
    }
    sources.push(new ForeignFile(yaml));
  }
  return sources;
}

/** A master key alone, or the budget of a proxy, has nothing to serve. */
const isEmpty = ({ providers, gateway, keys, teams }: Draft): boolean =>
  providers.length + gateway.size === 0 && keys.every(({ id }) => id === 'master') && teamsOf(teams).length === 0;

const teamsOf = (teams: Draft['teams']): readonly string[] => Object.keys(teams).filter((id) => id !== 'others');

function filesOf(draft: Draft, paths: readonly string[]): Readonly<Record<string, string>> {
  const isFilled = (value: object): boolean => Object.keys(value).length > 0;
  const head = `# Imported from ${paths.join(', ')} by \`gatehouse import\`.\n`;
  const file = (value: unknown): string => `${head}${stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })}`;
  return {
    ...(isFilled(draft.server) && { 'server.yaml': file(draft.server) }),
    'catalog.yaml': file({ providers: draft.providers, ...(isFilled(draft.aliases) && { aliases: draft.aliases }) }),
    'keys.yaml': file({ keys: draft.keys }),
    ...((isFilled(draft.teams) || isFilled(draft.organizations)) && {
      'teams.yaml': file({
        ...(isFilled(draft.organizations) && { organizations: draft.organizations }),
        ...(isFilled(draft.teams) && { teams: draft.teams }),
      }),
    }),
    ...(draft.prices.length > 0 && { 'prices.yaml': file({ prices: draft.prices }) }),
    ...Object.fromEntries([...draft.gateway].map(([id, config]) => [`gateway/${id}.yaml`, file(config)])),
  };
}

const reportOf = (
  draft: Draft,
  sources: readonly ForeignFile[],
  { dir, names, command }: { readonly dir: string; readonly command: string; readonly names: readonly string[] },
): string =>
  [
    `Wrote a settings folder:\n\n${names.map((name) => `  ${join(dir, name)}\n`).join('')}`,
    part(
      'Set these variables; no secret was copied',
      draft.variables.map(
        ({ name, purpose, place }) => `${name}: ${purpose}${place === undefined ? '' : `, at ${place}`}`,
      ),
    ),
    lossesOf(draft, sources),
    `\nThen: ${command} validate --configs ${shellWord(dir)} && ${command} serve --configs ${shellWord(dir)}\n`,
  ].join('');

const part = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `\n${title}:\n\n${lines.map((line) => `  ${line}\n`).join('')}`;

/** The three groups of what differs from before. Caps, guards and keys that are lost stand first. */
function lossesOf(draft: Draft, sources: readonly ForeignFile[]): string {
  const losses = sources.flatMap((source) => source.losses.toSorted((one, other) => one.line - other.line));
  const of = (weight: Weight): readonly string[] =>
    losses
      .filter((loss) => loss.weight === weight)
      .map(({ file, line, key, reason }) => `${file}:${line}: ${key === '' ? 'the file' : key}: ${reason}`);
  return [
    part('Decide: this is lost, or requests would go elsewhere, until you write it', [...of('guard'), ...of('decide')]),
    part('Check: this may work differently than before', [...new Set(draft.notes), ...of('check')]),
    part('Not needed', of('unneeded')),
  ].join('');
}
